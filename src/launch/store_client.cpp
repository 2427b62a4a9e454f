// SPDX-License-Identifier: Apache-2.0
#include "trainer/launch/store_client.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <utility>

#include "trainer/base/text/parse.h"

#include "launch/store_frame.h"
#include "launch/wait.h"

namespace trainer::launch {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

/// The other end closed the connection without an answer.
class ClosedConnection : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

milliseconds time_until(steady_clock::time_point end) {
  return std::max(milliseconds(0), std::chrono::ceil<milliseconds>(end - steady_clock::now()));
}

std::string system_reason() { return std::generic_category().message(errno); }

[[noreturn]] void fail_closed() {
  throw ClosedConnection("a connection that was closed without an answer");
}

}  // namespace

StoreClient::StoreClient(const Address& address, const std::string& token, Milliseconds limit)
    : limit_(limit) {
  constexpr milliseconds kPause{20};
  constexpr milliseconds kForClosed{5000};  // how long to retry if a busy store hangs up
  const TimePoint end = steady_clock::now() + limit;
  TimePoint last_try = end;
  for (;;) {
    std::string why;
    socket_ = connect_to(address, time_until(end));
    if (socket_.is_open()) {
      last_try = std::min(last_try, steady_clock::now() + kForClosed);
      try {
        greet(address, token, end);
        return;
      } catch (const ClosedConnection& e) {
        why = e.what();
      }
    } else {
      why = errno == EADDRNOTAVAIL ? "no machine of this name" : system_reason();
    }
    if (steady_clock::now() + kPause > last_try) throw std::runtime_error(why);
    std::this_thread::sleep_for(kPause);
  }
}

void StoreClient::greet(const Address& address, const std::string& token, TimePoint end) {
  if (address.door == Door::kUser && !is_of_this_user(socket_)) {
    throw std::runtime_error("a process of another user");
  }
  received_.clear();
  const Texts answer = exchange({kGreeting, token}, end);
  if (answer == Texts{kGreeting}) return;
  if (answer.size() == 2 && answer.front() == kRefused) {
    throw std::runtime_error("a store that refuses this process, as " + answer.back());
  }
  throw std::runtime_error("another program");
}

std::optional<std::string> StoreClient::find(const std::string& key) { return find(key, limit_); }

std::optional<std::string> StoreClient::find(const std::string& key, Milliseconds limit) {
  return request({"find", key}, limit);
}

void StoreClient::set(const std::string& key, const std::string& value) {
  request({"set", key, value}, limit_);
}

std::string StoreClient::swap(const std::string& key, const std::string& expected,
                              const std::string& value) {
  return request({"swap", key, expected, value}, limit_).value_or("");
}

int64_t StoreClient::add(const std::string& key, int64_t number) {
  const std::string sum = request({"add", key, std::to_string(number)}, limit_).value_or("");
  return parse_int(sum).value_or(0);
}

bool StoreClient::erase(const std::string& key) {
  return request({"erase", key}, limit_).has_value();
}

int64_t StoreClient::count() {
  return parse_int(request({"count"}, limit_).value_or("")).value_or(0);
}

// After an error the connection is closed, because a late answer would be taken for the answer to
// the next request.
std::optional<std::string> StoreClient::request(const Texts& texts, Milliseconds limit) {
  const std::lock_guard lock(mutex_);
  if (!socket_.is_open()) throw std::runtime_error("the connection is lost");
  Texts answer;
  try {
    answer = exchange(texts, steady_clock::now() + limit);
  } catch (const std::exception&) {
    { const Socket closed = std::move(socket_); }
    throw;
  }
  if (answer.size() == 1 && answer.front() == kNothing) return std::nullopt;
  if (answer.size() == 2 && answer.front() == kDone) return answer.back();
  throw std::runtime_error("the store refuses it: " + answer.back());
}

StoreClient::Texts StoreClient::exchange(const Texts& texts, TimePoint end) {
  send_all(bytes_of(texts), end);
  return receive(end);
}

void StoreClient::send_all(const std::string& bytes, TimePoint end) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t size = send(socket_.get(), bytes.data() + done, bytes.size() - done, kSendFlags);
    if (size >= 0) {
      done += static_cast<std::size_t>(size);
    } else if (!is_temporary(errno)) {
      fail_closed();
    } else if (!wait_for_events(socket_.get(), POLLOUT, time_until(end))) {
      throw std::runtime_error("no answer");
    }
  }
}

StoreClient::Texts StoreClient::receive(TimePoint end) {
  std::array<char, 16'384> buffer{};
  Texts frame;
  for (;;) {
    switch (take_frame(received_, kMaxFrameBytes, frame)) {
      case Arrival::kFrame:
        return frame;
      case Arrival::kInvalid:
        throw std::runtime_error("another program");
      case Arrival::kPart:
        break;
    }
    // The lock is held from a request to its answer, and the socket does not block.
    // NOLINTNEXTLINE(clang-analyzer-unix.BlockInCriticalSection)
    const ssize_t size = recv(socket_.get(), buffer.data(), buffer.size(), 0);
    if (size > 0) {
      received_.append(buffer.data(), static_cast<std::size_t>(size));
    } else if (size == 0 || !is_temporary(errno)) {
      fail_closed();
    } else if (!wait_for_events(socket_.get(), POLLIN, time_until(end))) {
      throw std::runtime_error("no answer");
    }
  }
}

}  // namespace trainer::launch
