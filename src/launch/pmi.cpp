// SPDX-License-Identifier: Apache-2.0
// PMI, the process management interface: requests to the launcher over a socket that it left open,
// PMI_FD, each with an answer. Rank 0 puts its text under a key, all ranks wait in a barrier (or
// fence), then each gets the value of the key. PMI-1, of MPICH's hydra, has lines of NAME=VALUE
// separated by spaces; PMI-2, of Slurm's plugin mpi/pmi2, has six digits of length and NAME=VALUE
// each ended by a semicolon. So the text travels as hexadecimal digits. The finalize at the end
// tells the launcher that a later exit is no failure; nothing can be asked after it.
// Sources: src/pmi/simple/simple_pmi.c and src/pmi/pmi2/simple of MPICH, src/plugins/mpi/pmi2 of
// Slurm. A launcher that does not answer would block a read for ever: poll() comes before each.
//
// PMIx, by which the processes of Open MPI's mpirun (4 and 5) talk to it: rank 0 puts its text
// under a key, all ranks wait in a fence, then each gets the value of the key, over machines too.
// Open MPI installs the library; nobody else needs it, so it is opened at run time, and the few
// things used of its stable interface (pmix_common.h of versions 3 to 5) are declared here.
// PMIx_Finalize at the end tells mpirun that the process may end as it likes: without it even a
// good end would be "improper". Nothing can be asked after it.
// The functions block without a limit, so they run in a thread of their own. If the time is over
// that thread is left behind, as nothing can wake it; the process ends soon with the error.
#include "launch/pmi.h"

#include <dlfcn.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/types.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <future>
#include <optional>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "trainer/base/text/format.h"
#include "trainer/base/text/parse.h"

#include "launch/wait.h"

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

namespace {

constexpr const char* kPmixKey = "trainer";
constexpr uint8_t kGlobal = 3;   // PMIX_GLOBAL: for processes of this machine and of others
constexpr uint16_t kString = 3;  // PMIX_STRING

struct Process {  // pmix_proc_t
  std::array<char, 256> name_space;
  uint32_t rank;
};

struct Value {  // pmix_value_t
  uint16_t type;
  union {
    char* string;
    std::array<char, 64> others;  // at least as large as the library's
  };
};

struct Functions {
  int (*init)(Process* self, void* info, size_t infos) = nullptr;
  int (*put)(uint8_t scope, const char* key, Value* value) = nullptr;
  int (*commit)() = nullptr;
  int (*fence)(const Process* processes, size_t count, const void* info, size_t infos) = nullptr;
  int (*get)(const Process* process, const char* key, const void* info, size_t infos,
             Value** value) = nullptr;
  int (*finalize)(const void* info, size_t infos) = nullptr;
  const char* (*error_string)(int status) = nullptr;
};

template <class F>
bool load(void* library, const char* name, F& function) {
  function = reinterpret_cast<F>(dlsym(library, name));
  return function != nullptr;
}

/// Returns the functions of libpmix, or null pointers if it is not installed. The library stays
/// open, because it cannot be unloaded safely.
Functions open() {
  Functions pmix;
  void* library = dlopen("libpmix.so.2", RTLD_NOW | RTLD_LOCAL);
  const bool is_complete =
      library != nullptr && load(library, "PMIx_Init", pmix.init) &&
      load(library, "PMIx_Put", pmix.put) && load(library, "PMIx_Commit", pmix.commit) &&
      load(library, "PMIx_Fence", pmix.fence) && load(library, "PMIx_Get", pmix.get) &&
      load(library, "PMIx_Finalize", pmix.finalize) &&
      load(library, "PMIx_Error_string", pmix.error_string);
  return is_complete ? pmix : Functions{};
}

const Functions& functions() {
  static const Functions pmix = open();
  return pmix;
}

void check(const Place& place, int status, const char* name) {
  if (status == 0) return;
  fail(place, fmt::format("got {} from {}", functions().error_string(status), name),
       "set MASTER_ADDR and MASTER_PORT to an address of rank 0 instead");
}

std::string share(const Place& place, const std::string& own_text) {
  std::string text = own_text;  // PMIx takes a pointer to non-const memory
  const Functions& pmix = functions();
  if (pmix.init == nullptr) {
    fail(place, "got no libpmix.so.2", "set MASTER_ADDR and MASTER_PORT to an address of rank 0");
  }
  Process process{};
  check(place, pmix.init(&process, nullptr, 0), "PMIx_Init");
  if (place.rank == 0) {
    Value value{kString, {text.data()}};
    check(place, pmix.put(kGlobal, kPmixKey, &value), "PMIx_Put");
    check(place, pmix.commit(), "PMIx_Commit");
  }
  check(place, pmix.fence(nullptr, 0, nullptr, 0), "PMIx_Fence");
  process.rank = 0;
  Value* value = nullptr;
  check(place, pmix.get(&process, kPmixKey, nullptr, 0, &value), "PMIx_Get");
  std::string shared = value->string;
  std::free(value->string);
  std::free(value);
  check(place, pmix.finalize(nullptr, 0), "PMIx_Finalize");
  return shared;
}

}  // namespace

bool has_pmix() { return functions().init != nullptr; }

std::string share_by_pmix(const Wait& wait, const std::string& text) {
  std::packaged_task<std::string()> task([place = wait.place, text] { return share(place, text); });
  std::future<std::string> shared = task.get_future();
  std::thread(std::move(task)).detach();
  if (shared.wait_until(wait.end) != std::future_status::ready) {
    fail_late(wait, "the other ranks in PMIx_Fence", "make sure that all ranks start");
  }
  return shared.get();
}

}  // namespace trainer::launch
