// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "support/files.h"
#include "support/temporary_folder.h"

namespace trainer::test {

struct ProcessResult {
  int exit_code = -1;
  std::string out;
  std::string err;
};

/// Runs a shell command and returns what it wrote. `environment` is put before it: "CI=1".
inline ProcessResult run_process(const std::string& command, const std::string& environment = "") {
  const TemporaryFolder folder;
  const std::filesystem::path out = folder.path() / "out";
  const std::filesystem::path err = folder.path() / "err";
  const std::string line = environment + " " + command + " >" + out.string() + " 2>" + err.string();
  const int status = std::system(line.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), read_file(out),
          read_file(err)};
}

}  // namespace trainer::test
