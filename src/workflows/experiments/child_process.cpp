// SPDX-License-Identifier: Apache-2.0
#include "workflows/experiments/child_process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "trainer/base/error.h"
#include "trainer/base/io/until_done.h"

extern char** environ;  // NOLINT: POSIX declares it nowhere

namespace trainer::experiments {
namespace {

/// Redirects the child's standard output and standard error.
class FileActions {
 public:
  explicit FileActions(const std::filesystem::path& output) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_addopen(&actions_, STDOUT_FILENO, output.c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC, 0644);
    posix_spawn_file_actions_adddup2(&actions_, STDOUT_FILENO, STDERR_FILENO);
  }
  ~FileActions() { posix_spawn_file_actions_destroy(&actions_); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;
  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

}  // namespace

ChildProcess::ChildProcess(const std::filesystem::path& program,
                           const std::vector<std::string>& arguments,
                           const std::filesystem::path& output) {
  std::vector<std::string> argv = {program.string()};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  pointers.reserve(argv.size() + 1);
  for (std::string& argument : argv) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  const FileActions actions(output);
  const int error =
      posix_spawn(&id_, program.c_str(), actions.get(), nullptr, pointers.data(), environ);
  if (error == 0) return;
  throw Error(ErrorKind::kRuntime,
              fmt::format("cannot start {}: {}", program.string(), std::strerror(error)));
}

ChildProcess::~ChildProcess() { kill(); }

std::optional<int> ChildProcess::exit_code() {
  int status = 0;
  if (!exit_code_ && waitpid(id_, &status, WNOHANG) == id_) remember(status);
  return exit_code_;
}

int ChildProcess::kill() {
  if (exit_code_) return *exit_code_;
  ::kill(id_, SIGKILL);
  int status = 0;
  until_done([&] { return waitpid(id_, &status, 0); });
  remember(status);
  return *exit_code_;
}

void ChildProcess::remember(int status) {
  exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace trainer::experiments
