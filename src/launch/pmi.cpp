// SPDX-License-Identifier: Apache-2.0
// PMI, the process management interface: requests to the launcher over a socket that it left open,
// PMI_FD, each with an answer. Rank 0 puts its text under a key, all ranks wait in a barrier (or
// fence), then each gets the value of the key. PMI-1, of MPICH's hydra, has lines of NAME=VALUE
// separated by spaces; PMI-2, of Slurm's plugin mpi/pmi2, has six digits of length and NAME=VALUE
// each ended by a semicolon. So the text travels as hexadecimal digits. The finalize at the end
// tells the launcher that a later exit is no failure; nothing can be asked after it.
// Sources: src/pmi/simple/simple_pmi.c and src/pmi/pmi2/simple of MPICH, src/plugins/mpi/pmi2 of
// Slurm. A launcher that does not answer would block a read for ever: poll() comes before each.
#include "launch/pmi.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/types.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "trainer/base/text/format.h"
#include "trainer/base/text/parse.h"

#include "launch/socket_calls.h"

namespace trainer::launch {
namespace {

constexpr const char* kKey = "trainer";
constexpr size_t kLengthDigits = 6;  // digits of the length before a message of PMI-2
constexpr const char* kStartAll = "make sure that all ranks start";
constexpr const char* kGiveAddress =
    "set MASTER_ADDR and MASTER_PORT to an address of rank 0 instead";
struct Channel {
  const Wait& wait;
  int descriptor;
  const char* protocol;
  char separator;             // between NAME=VALUE in answers
  std::string request = {};   // name of the last request, for messages
  std::string received = {};  // bytes after the last answer
};

[[noreturn]] void fail_lost(const Channel& channel, const std::string& reason) {
  fail(channel.wait.place,
       fmt::format("lost the launcher at {} of {}: PMI_FD {}: {}", channel.request,
                   channel.protocol, channel.descriptor, reason),
       kGiveAddress);
}

[[noreturn]] void fail_lost(const Channel& channel, int code) {
  const bool is_closed = code == EPIPE || code == ECONNRESET;  // which one depends on timing
  fail_lost(channel, is_closed ? "closed" : std::generic_category().message(code));
}

[[noreturn]] void fail_refused(const Channel& channel, const std::string& answer) {
  fail(channel.wait.place,
       fmt::format("got {} from the launcher to {} of {}", in_quotes(answer), channel.request,
                   channel.protocol),
       kGiveAddress);
}

void wait_until_ready(const Channel& channel, int16_t event) {
  for (;;) {
    pollfd state = {channel.descriptor, event, 0};
    const int ready = ::poll(&state, 1, static_cast<int>(time_left(channel.wait).count()));
    if (ready < 0 && errno != EINTR) fail_lost(channel, errno);
    if (ready > 0 && (state.revents & POLLNVAL) != 0) fail_lost(channel, EBADF);
    if (ready > 0) return;
    if (time_left(channel.wait).count() == 0) {
      fail_late(channel.wait,
                fmt::format("the launcher's answer to {} of {}", channel.request, channel.protocol),
                kStartAll);
    }
  }
}

void send_all(const Channel& channel, std::string_view bytes) {
  while (!bytes.empty()) {
    wait_until_ready(channel, POLLOUT);
    const ssize_t sent = ::send(channel.descriptor, bytes.data(), bytes.size(), kSendFlags);
    if (sent < 0 && !is_temporary(errno)) fail_lost(channel, errno);
    if (sent > 0) bytes.remove_prefix(static_cast<size_t>(sent));
  }
}

void receive_some(Channel& channel) {
  std::array<char, 1024> buffer{};
  wait_until_ready(channel, POLLIN);
  const ssize_t size = ::recv(channel.descriptor, buffer.data(), buffer.size(), 0);
  if (size == 0) fail_lost(channel, "closed");
  if (size < 0 && !is_temporary(errno)) fail_lost(channel, errno);
  if (size > 0) channel.received.append(buffer.data(), static_cast<size_t>(size));
}

std::string receive_bytes(Channel& channel, size_t size) {
  while (channel.received.size() < size) receive_some(channel);
  std::string bytes = channel.received.substr(0, size);
  channel.received.erase(0, size);
  return bytes;
}

std::string receive_line(Channel& channel) {
  while (channel.received.find('\n') == std::string::npos) receive_some(channel);
  std::string line = receive_bytes(channel, channel.received.find('\n') + 1);
  line.pop_back();
  return line;
}

std::optional<std::string> field(const Channel& channel, std::string_view answer,
                                 std::string_view name) {
  while (!answer.empty()) {
    const std::string_view entry = answer.substr(0, answer.find(channel.separator));
    if (entry.starts_with(name) && entry.substr(name.size()).starts_with('=')) {
      return std::string(entry.substr(name.size() + 1));
    }
    answer.remove_prefix(std::min(answer.size(), entry.size() + 1));
  }
  return std::nullopt;
}

/// Returns the answer, after checking that it is `expected` and reports no failure.
std::string checked(const Channel& channel, std::string answer, const char* expected) {
  if (field(channel, answer, "cmd") != expected) fail_refused(channel, answer);
  if (field(channel, answer, "rc").value_or("0") != "0") fail_refused(channel, answer);
  return answer;
}

/// Sends a request of PMI-1 and returns the answer. The first request of PMI-2 has the same format.
std::string ask_line(Channel& channel, const char* request, const std::string& arguments,
                     const char* expected) {
  channel.request = request;
  send_all(channel, fmt::format("cmd={}{}\n", request, arguments));
  return checked(channel, receive_line(channel), expected);
}

/// Slurm pads the length with spaces at its end, MPICH at its beginning.
std::string without_spaces(std::string text) {
  std::erase(text, ' ');
  return text;
}

std::string ask(Channel& channel, const char* request, const std::string& arguments) {
  channel.request = request;
  const std::string body = fmt::format("cmd={};{}", request, arguments);
  send_all(channel, fmt::format("{:>{}}{}", body.size(), kLengthDigits, body));
  const std::string digits = receive_bytes(channel, kLengthDigits);
  const std::optional<int64_t> size = parse_int(without_spaces(digits));
  if (!size || *size < 0) fail_refused(channel, digits);
  return checked(channel, receive_bytes(channel, static_cast<size_t>(*size)),
                 (std::string(request) + "-response").c_str());
}

std::string in_hex(std::string_view text) {
  std::string digits;
  for (const char c : text) digits += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return digits;
}

std::string shared_text(const Channel& channel, const std::string& answer) {
  const std::string no_digits = "-";  // not hexadecimal, so that a missing value is refused
  const std::string digits = field(channel, answer, "value").value_or(no_digits);
  constexpr std::string_view kDigits = "0123456789abcdef";
  if (digits.size() % 2 != 0 || digits.find_first_not_of(kDigits) != std::string::npos) {
    fail_refused(channel, answer);
  }
  std::string text;
  for (size_t i = 0; i < digits.size(); i += 2) {
    text += static_cast<char>(16 * kDigits.find(digits[i]) + kDigits.find(digits[i + 1]));
  }
  return text;
}

}  // namespace

std::string share_by_pmi1(const Wait& wait, int descriptor, const std::string& text) {
  Channel channel{wait, descriptor, "PMI-1", ' '};
  ask_line(channel, "init", " pmi_version=1 pmi_subversion=1", "response_to_init");
  const std::string name = ask_line(channel, "get_my_kvsname", "", "my_kvsname");
  const std::string space =
      fmt::format(" kvsname={} key={}", field(channel, name, "kvsname").value_or(""), kKey);
  if (wait.place.rank == 0)
    ask_line(channel, "put", space + " value=" + in_hex(text), "put_result");
  ask_line(channel, "barrier_in", "", "barrier_out");
  const std::string answer = ask_line(channel, "get", space, "get_result");
  std::string shared = shared_text(channel, answer);
  ask_line(channel, "finalize", "", "finalize_ack");
  return shared;
}

std::string share_by_pmi2(const Wait& wait, int descriptor, const std::string& job,
                          const std::string& text) {
  Channel channel{wait, descriptor, "PMI-2", ' '};
  ask_line(channel, "init", " pmi_version=2 pmi_subversion=0", "response_to_init");
  channel.separator = ';';
  ask(channel, "fullinit",
      fmt::format("pmijobid={};pmirank={};threaded=FALSE;", job, wait.place.rank));
  if (wait.place.rank == 0) {
    ask(channel, "kvs-put", fmt::format("key={};value={};", kKey, in_hex(text)));
  }
  ask(channel, "kvs-fence", "");
  // srcid=-1 means that any rank may have put the value.
  const std::string answer =
      ask(channel, "kvs-get", fmt::format("jobid={};srcid=-1;key={};", job, kKey));
  std::string shared = shared_text(channel, answer);
  ask(channel, "finalize", "");
  return shared;
}

}  // namespace trainer::launch
