// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "support/child.h"
#include "support/comes_true.h"
#include "support/process.h"
#include "support/running_program.h"
#include "support/temporary_folder.h"

namespace trainer::test {

/// What programs take for a machine of its own: a host name, process ids, and a network that is not
/// connected. They are the kernel's namespaces of one process. No file holds them, so with that
/// process they end, and all programs in them, even if the test is killed. As Debian sets machines
/// up, the host name leads to a loopback address, at which no other machine finds it.
class Machine {
 public:
  explicit Machine(std::string host)
      : host_(std::move(host)),
        command_(fmt::format(
            "exec >{0}/out 2>&1; exec unshare --net --uts --mount --pid --fork --kill-child "
            "--mount-proc sh -c 'hostname {1} && mount --bind {2} /etc/hosts && "
            "ip link set lo up && echo yes >{0}/is_ready && exec sleep infinity'",
            folder_.path().string(), host_,
            folder_.write("hosts", "127.0.0.1 localhost\n127.0.1.1 " + host_ + "\n").string())),
        child_([&] { return execl("/bin/sh", "sh", "-c", command_.c_str(), nullptr); }) {
    if (!comes_true([&] { return std::filesystem::exists(folder_.path() / "is_ready"); })) {
      throw std::runtime_error(read_file(folder_.path() / "out"));
    }
  }

  /// Why there can be no machines here, empty if there can.
  static std::string problem() {
    for (const char* program : {"ip", "tc", "unshare", "nsenter", "timeout"}) {
      if (run_process(std::string("command -v ") + program).exit_code != 0) {
        return fmt::format("{} is not here (Debian: iproute2, util-linux, coreutils)", program);
      }
    }
    if (!std::filesystem::exists("/etc/hosts")) return "there is no /etc/hosts";
    const ProcessResult result = run_process(
        "timeout -s KILL 100 unshare --net --uts --mount --pid --fork --mount-proc "
        "ip link add cable type veth peer name other");
    return result.exit_code == 0 ? "" : "cannot make a network (root only): " + result.err;
  }

  pid_t id() const { return child_.id(); }

  /// Words of a shell before those of a command that is to run in this machine.
  std::string entering() const {
    return fmt::format(
        "nsenter --target {0} --net --uts --mount --root --wd --pid=/proc/{0}/ns/pid_for_children",
        id());
  }

  /// Runs a command about its network. Throws if that fails.
  void run_in_network(const std::string& command) const {
    run(fmt::format("nsenter --target {} --net {}", id(), command));
  }

  /// Sends SIGTERM to all programs in it.
  void terminate_programs() const { run(entering() + " sh -c 'kill -TERM -1'"); }

 private:
  static void run(const std::string& command) {
    const ProcessResult result = run_process("timeout -s KILL 100 " + command);
    if (result.exit_code != 0) throw std::runtime_error(command + ": " + result.err);
  }

  TemporaryFolder folder_;
  std::string host_;
  std::string command_;
  Child child_;
};

/// Two machines and a cable between them.
class TwoMachines {
 public:
  TwoMachines() {
    machines_[0].run_in_network(
        fmt::format("ip link add cable type veth peer name cable netns {}", machines_[1].id()));
    for (std::size_t i = 0; i < machines_.size(); ++i) {
      machines_[i].run_in_network(fmt::format("ip address add 10.77.0.{}/30 dev cable", i + 1));
      machines_[i].run_in_network("ip link set cable up");
    }
  }

  const Machine& machine(int64_t index) const { return machines_[static_cast<std::size_t>(index)]; }

  /// Nothing arrives any more, and nobody is told so.
  void cut() const { machines_[0].run_in_network("ip link set cable down"); }

  /// "20mbit": what goes through in a second, each way.
  void slow_down(const std::string& rate) const {
    for (const Machine& machine : machines_) {
      machine.run_in_network(
          fmt::format("tc qdisc add dev cable root tbf rate {} burst 16kb latency 1s", rate));
    }
  }

  /// Starts the ranks of a run in `folder`, the first half of them on the first machine. They are
  /// killed after five minutes.
  std::vector<std::unique_ptr<RunningProgram>> start(int64_t size,
                                                     const std::filesystem::path& folder,
                                                     const std::string& arguments) const {
    std::vector<std::unique_ptr<RunningProgram>> programs;
    const int64_t local_size = size / std::ssize(machines_);
    for (int64_t rank = 0; rank < size; ++rank) {
      programs.push_back(std::make_unique<RunningProgram>(
          folder, arguments, Moments::kPassed,
          fmt::format("exec timeout -s KILL 300 {} sh -c 'cd {}; export RANK={} WORLD_SIZE={} "
                      "LOCAL_RANK={} LOCAL_WORLD_SIZE={} MASTER_ADDR=10.77.0.1 "
                      "MASTER_PORT=29500 TRAINER_RENDEZVOUS_TOKEN=secret; \"$@\"' sh",
                      machine(rank / local_size).entering(), folder.string(), rank, size,
                      rank % local_size, local_size)));
    }
    return programs;
  }

 private:
  std::array<Machine, 2> machines_{Machine("left"), Machine("right")};
};

}  // namespace trainer::test
