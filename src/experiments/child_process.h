// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace trainer::experiments {

/// A program that runs beside this one. At the end of the scope it is killed if it still runs.
class ChildProcess {
 public:
  /// Starts `program`; what it writes to standard output and standard error goes to the file
  /// `output`, made anew. Throws Error(kRuntime).
  ChildProcess(const std::filesystem::path& program, const std::vector<std::string>& arguments,
               const std::filesystem::path& output);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  /// Its exit code when it has ended, 128 + the signal that ended it; nothing while it runs.
  std::optional<int> exit_code();

  /// Ends it by SIGKILL and returns its exit code, which is another one if it had just ended.
  int kill();

 private:
  void remember(int status);

  pid_t id_ = -1;
  std::optional<int> exit_code_;
};

}  // namespace trainer::experiments
