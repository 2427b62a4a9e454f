// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace trainer::experiments {

/// A child process. It is killed at the end of the scope if it is still running.
class ChildProcess {
 public:
  /// Starts `program` with its standard output and standard error redirected to the new file
  /// `output`. Throws Error(kRuntime).
  ChildProcess(const std::filesystem::path& program, const std::vector<std::string>& arguments,
               const std::filesystem::path& output);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  /// Returns the exit code, or 128 plus the signal that ended the process; nothing while it is
  /// running.
  std::optional<int> exit_code();

  /// Sends SIGKILL and returns the exit code: 128 + SIGKILL, or another one if the process had just
  /// ended.
  int kill();

 private:
  void remember(int status);

  pid_t id_ = -1;
  std::optional<int> exit_code_;
};

}  // namespace trainer::experiments
