// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>

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

/// The percentage behind "accuracy " in the results; -1 where there is none.
inline double test_accuracy(std::string_view out) {
  constexpr std::string_view kSplit = "test ";
  constexpr std::string_view kMetric = "accuracy ";
  for (std::size_t at = out.find(kSplit); at != std::string_view::npos;
       at = out.find(kSplit, at + 1)) {
    const std::size_t value = out.find_first_not_of(' ', at + kSplit.size());
    const std::string_view rest = out.substr(std::min(value, out.size()));
    if (rest.starts_with(kMetric)) return std::stod(std::string(rest.substr(kMetric.size())));
  }
  return -1;
}

}  // namespace trainer::test
