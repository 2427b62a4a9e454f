// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "support/process.h"

namespace trainer::test {

inline const std::string kTrainer = TRAINER_BINARY;
inline const std::filesystem::path kSource = TRAINER_SOURCE_DIR;

/// Runs the program in `folder`; `environment` is put before it: "CI=1".
inline ProcessResult trainer_in(const std::filesystem::path& folder, const std::string& arguments,
                                const std::string& environment = "") {
  return run_process("cd " + folder.string() + " && " + environment + " " + kTrainer + " " +
                     arguments);
}

/// The same in a shell of its own; `before` stands before the program: "ulimit -f 100;".
inline ProcessResult trainer_in_shell(const std::filesystem::path& folder,
                                      const std::string& before, const std::string& arguments) {
  return run_process("sh -c 'cd " + folder.string() + "; " + before + " " + kTrainer + " " +
                     arguments + "'");
}

/// The option that names a configuration of configs/.
inline std::string with_config(const std::string& name) {
  return "--config " + (kSource / "configs" / name).string() + " ";
}

/// A copy of the program in `folder`, without the library that needs LibTorch; returns its path.
inline std::string copy_without_engine(const std::filesystem::path& folder) {
  namespace fs = std::filesystem;
  fs::create_directories(folder / "bin");
  fs::create_directories(folder / "lib");
  const fs::path copy = folder / "bin/trainer";
  fs::copy_file(kTrainer, copy);
  for (const fs::directory_entry& file :
       fs::directory_iterator(fs::path(kTrainer).parent_path().parent_path() / "lib")) {
    const fs::path name = file.path().filename();
    if (name.string().starts_with("libtrainer_core")) fs::copy_file(file, folder / "lib" / name);
  }
  return copy.string();
}

}  // namespace trainer::test
