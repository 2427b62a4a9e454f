// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include <cerrno>
#include <cstdio>
#include <stdexcept>

namespace trainer::test {

/// A forked child that runs beside the test. At the end of the scope it is killed if it still runs.
class Child {
 public:
  /// Calls `body` in the child, which ends with the exit code that it returns.
  template <class Body>
  explicit Child(const Body& body) {
    std::fflush(nullptr);
    id_ = fork();
    if (id_ < 0) throw std::runtime_error("cannot fork");
    if (id_ > 0) return;
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // a test that is killed leaves nobody standing still
#endif
    // As a terminal starts a program, whatever runs the tests: a shell's & or nohup.
    for (const int number : {SIGINT, SIGHUP, SIGTERM}) ::signal(number, SIG_DFL);
    _exit(body());
  }
  ~Child() {
    send(SIGKILL);
    wait();
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  pid_t id() const { return id_; }

  /// Nothing for one that has ended.
  void send(int signal) const {
    if (!has_ended_) kill(id_, signal);
  }

  /// Lets it go on where it has been stopped, and waits until it is stopped again or has ended;
  /// returns whether it is stopped.
  bool wait_for_stop() {
    if (has_ended_) return false;
    if (is_stopped_) send(SIGCONT);
    while (waitpid(id_, &status_, WUNTRACED) < 0) {
      if (errno != EINTR) throw std::runtime_error("cannot wait for a child");
    }
    is_stopped_ = WIFSTOPPED(status_);
    has_ended_ = !is_stopped_;
    return is_stopped_;
  }

  /// Waits for its end, however often it is stopped; returns its exit code, 128 + the signal that
  /// ended it.
  int wait() {
    while (wait_for_stop()) {
    }
    return WIFEXITED(status_) ? WEXITSTATUS(status_) : 128 + WTERMSIG(status_);
  }

 private:
  pid_t id_ = -1;
  int status_ = 0;
  bool is_stopped_ = false;
  bool has_ended_ = false;
};

}  // namespace trainer::test
