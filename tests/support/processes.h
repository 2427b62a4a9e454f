// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "support/running_program.h"

namespace trainer::test {

/// A socket for TCP that programs do not inherit; macOS has no SOCK_CLOEXEC for that.
inline int tcp_socket() {
  const int descriptor = socket(AF_INET, SOCK_STREAM, 0);
  fcntl(descriptor, F_SETFD, FD_CLOEXEC);
  return descriptor;
}

/// A port of this machine that was free a moment ago.
inline int free_port() {
  const int descriptor = tcp_socket();
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* as_address = reinterpret_cast<sockaddr*>(&address);
  const bool is_bound =
      bind(descriptor, as_address, size) == 0 && getsockname(descriptor, as_address, &size) == 0;
  close(descriptor);
  if (!is_bound) throw std::runtime_error("no free port");
  return ntohs(address.sin_port);
}

/// What a launcher sets for rank `rank` of `size` on one machine, as words of a shell.
inline std::string variables_of_rank(int64_t rank, int64_t size, int port) {
  return fmt::format(
      "export RANK={0} WORLD_SIZE={1} LOCAL_RANK={0} LOCAL_WORLD_SIZE={1} MASTER_ADDR=127.0.0.1 "
      "MASTER_PORT={2};",
      rank, size, port);
}

/// The processes of a run, started by the test itself in place of a launcher.
class Processes {
 public:
  /// Each one with the same arguments, its own words of `extra` after them, and those of `before`
  /// before the program.
  Processes(const std::filesystem::path& folder, int64_t size, const std::string& arguments,
            const std::vector<std::string>& extra = {},
            const std::vector<std::string>& before = {}) {
    const int port = free_port();
    for (int64_t rank = 0; rank < size; ++rank) {
      const auto of_rank = [&](const std::vector<std::string>& words) {
        const auto r = static_cast<std::size_t>(rank);
        return r < words.size() ? " " + words[r] : "";
      };
      programs_.push_back(
          std::make_unique<RunningProgram>(folder, arguments + of_rank(extra), Moments::kPassed,
                                           variables_of_rank(rank, size, port) + of_rank(before)));
    }
  }

  RunningProgram& rank(int64_t rank) { return *programs_[static_cast<std::size_t>(rank)]; }

  /// Waits for the end of all of them.
  std::vector<ProcessResult> finish() {
    std::vector<ProcessResult> results;
    for (const auto& program : programs_) results.push_back(program->finish());
    return results;
  }

 private:
  std::vector<std::unique_ptr<RunningProgram>> programs_;
};

}  // namespace trainer::test
