// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "support/asleep.h"
#include "support/child.h"
#include "support/process.h"
#include "support/temporary_folder.h"
#include "support/trainer_program.h"

namespace trainer::test {

/// Whether a program stands still at each moment of its writing (base/io/atomic_file.h), so that a
/// test sees its files as they are then and acts then, not sooner and not later.
enum class Moments { kPassed, kHeld };

/// The program beside the test. At the end of the scope it is killed if it still runs.
class RunningProgram {
 public:
  /// Words of a shell: `before` stands before the program ("ulimit -t 60;").
  RunningProgram(const std::filesystem::path& folder, const std::string& arguments, Moments moments,
                 const std::string& before = "")
      : command_("exec >" + out().string() + " 2>" + err().string() + "; cd " + folder.string() +
                 "; " + (moments == Moments::kHeld ? "export TRAINER_STOP_AT_EACH=1; " : "") +
                 before + " exec " + kTrainer + " " + arguments),
        child_([&] { return execl("/bin/sh", "sh", "-c", command_.c_str(), nullptr); }) {}

  void send(int signal) const { child_.send(signal); }

  /// Waits until its only thread sleeps, in a read for example, or it has ended.
  void wait_until_it_sleeps() const { wait_until_child_sleeps(child_.id()); }

  /// Lets it go on to its next moment; false when it has ended.
  bool go_on() { return child_.wait_for_stop(); }

  /// Lets it go on from moment to moment until `is_so`; false when it has ended before.
  template <class Condition>
  bool go_on_until(const Condition& is_so) {
    while (go_on()) {
      if (is_so()) return true;
    }
    return false;
  }

  bool has_ended() const { return process_state(child_.id()) == 'Z'; }

  /// Waits for its end.
  ProcessResult finish() {
    const int exit_code = child_.wait();
    return {exit_code, read_file(out()), read_file(err())};
  }

 private:
  std::filesystem::path out() const { return output_.path() / "out"; }
  std::filesystem::path err() const { return output_.path() / "err"; }

  TemporaryFolder output_;
  std::string command_;
  Child child_;
};

}  // namespace trainer::test
