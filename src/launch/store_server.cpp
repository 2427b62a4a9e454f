// SPDX-License-Identifier: Apache-2.0
// A connection is a stranger until its first frame contains the token. It can send at most that
// frame, within a few seconds. A member sends a request, receives the answer, and sends the next
// request: nothing is read from it while an answer is being sent, so the server never stores more
// than one request and one answer of it.
#include "trainer/launch/store_server.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "trainer/launch/token.h"

#include "launch/store_frame.h"
#include "launch/wait.h"

namespace trainer::launch {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr steady_clock::time_point kNever = steady_clock::time_point::max();

void prepare(const Socket& socket) {
  const int yes = 1;
  fcntl(socket.get(), F_SETFD, FD_CLOEXEC);
  fcntl(socket.get(), F_SETFL, O_NONBLOCK);
  setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);  // TCP only; else ignored
#ifdef SO_NOSIGPIPE
  setsockopt(socket.get(), SOL_SOCKET, SO_NOSIGPIPE, &yes, sizeof yes);
#endif
}

}  // namespace

class StoreServer::Service {
 public:
  Service(Socket listener, Door door, std::string token, const StoreLimits& limits)
      : listener_(std::move(listener)),
        door_(door),
        token_(std::move(token)),
        limits_(limits),
        values_(limits.max_bytes) {
    std::array<int, 2> ends{};
    if (pipe(ends.data()) != 0) throw std::system_error(errno, std::generic_category());
    wake_ = Socket(ends[0]);
    waker_ = Socket(ends[1]);
    for (const int end : ends) fcntl(end, F_SETFD, FD_CLOEXEC);
    prepare(listener_);
    start_thread();
  }

  ~Service() {
    { const Socket closed = std::move(waker_); }
    thread_.join();
  }

  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

 private:
  struct Connection {
    Socket socket;
    bool is_member = false;
    bool is_over = false;
    std::string received;                   // the beginning of a frame
    std::string answer;                     // what has not been sent yet
    steady_clock::time_point end = kNever;  // of the current greeting or request
  };

  // The new thread inherits a mask that blocks all signals, so that other threads handle them.
  void start_thread() {
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
      thread_ = std::thread([this] { serve(); });
    } catch (...) {
      pthread_sigmask(SIG_SETMASK, &before, nullptr);
      throw;
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  void serve() {
    for (;;) {
      std::vector<pollfd> waiting = {{.fd = wake_.get(), .events = POLLIN, .revents = 0},
                                     {.fd = listener_.get(), .events = POLLIN, .revents = 0}};
      if (has_no_descriptors_) waiting[1].fd = -1;
      for (const Connection& connection : connections_) {
        const bool is_sending = !connection.answer.empty();
        waiting.push_back({.fd = connection.socket.get(),
                           .events = static_cast<short>(is_sending ? POLLOUT : POLLIN),
                           .revents = 0});
      }
      const auto num_waiting = static_cast<nfds_t>(waiting.size());
      if (poll(waiting.data(), num_waiting, milliseconds_to_wait()) < 0) continue;
      if (waiting[0].revents != 0) return;
      has_no_descriptors_ = false;
      for (std::size_t i = 0; i < connections_.size(); ++i) {
        if (waiting[i + 2].revents != 0) go_on(connections_[i]);
      }
      const steady_clock::time_point now = steady_clock::now();
      std::erase_if(connections_, [&](const auto& c) { return c.is_over || c.end <= now; });
      if (waiting[1].revents != 0) accept_all();
    }
  }

  // Returns the timeout of poll(); -1 means none.
  int milliseconds_to_wait() const {
    constexpr milliseconds kRetry{100};
    steady_clock::time_point end = has_no_descriptors_ ? steady_clock::now() + kRetry : kNever;
    for (const Connection& connection : connections_) end = std::min(end, connection.end);
    if (end == kNever) return -1;
    const auto left = std::chrono::ceil<milliseconds>(end - steady_clock::now());
    return static_cast<int>(std::max<int64_t>(0, left.count()));
  }

  void accept_all() {
    constexpr int kAtOnce = 16;
    for (int i = 0; i < kAtOnce; ++i) {
      Socket socket(accept(listener_.get(), nullptr, nullptr));
      if (!socket.is_open()) {
        has_no_descriptors_ = errno == EMFILE || errno == ENFILE || errno == ENOMEM;
        if (has_no_descriptors_) close_oldest_stranger();
        return;
      }
      prepare(socket);
      if (count(Kind::kStrangers) >= limits_.max_strangers) close_oldest_stranger();
      Connection& stranger = connections_.emplace_back();
      stranger.socket = std::move(socket);
      stranger.end = steady_clock::now() + limits_.greeting;
    }
  }

  enum class Kind : uint8_t { kMembers, kStrangers };

  std::size_t count(Kind kind) const {
    return static_cast<std::size_t>(
        std::count_if(connections_.begin(), connections_.end(), [&](const Connection& connection) {
          return connection.is_member == (kind == Kind::kMembers);
        }));
  }

  // Connections are in the order in which they were accepted.
  void close_oldest_stranger() {
    const auto oldest = std::find_if(connections_.begin(), connections_.end(),
                                     [](const auto& connection) { return !connection.is_member; });
    if (oldest != connections_.end()) connections_.erase(oldest);
  }

  void go_on(Connection& connection) {
    if (connection.answer.empty()) {
      receive(connection);
    } else {
      send_answer(connection);
    }
    while (!connection.is_over && connection.answer.empty() && take_next(connection)) {
    }
    if (!connection.is_member) return;
    const bool has_begun = !connection.received.empty() || !connection.answer.empty();
    if (!has_begun) connection.end = kNever;
    if (has_begun && connection.end == kNever) {
      connection.end = steady_clock::now() + limits_.request;
    }
  }

  void receive(Connection& connection) {
    std::array<char, 16'384> buffer{};
    const std::size_t room = connection.is_member ? buffer.size() : kMaxGreetingBytes;
    const ssize_t size = recv(connection.socket.get(), buffer.data(), room, 0);
    if (size < 0 && is_temporary(errno)) return;
    if (size <= 0) {
      connection.is_over = true;
      return;
    }
    connection.received.append(buffer.data(), static_cast<std::size_t>(size));
  }

  // Answers the next complete frame. Returns whether there was one.
  bool take_next(Connection& connection) {
    Frame frame;
    const std::size_t max_bytes = connection.is_member ? kMaxFrameBytes : kMaxGreetingBytes;
    switch (take_frame(connection.received, max_bytes, frame)) {
      case Arrival::kPart:
        return false;
      case Arrival::kInvalid:
        connection.is_over = true;
        return false;
      case Arrival::kFrame:
        break;
    }
    if (connection.is_member) {
      connection.answer = bytes_of(values_.answer(frame));
    } else {
      greet(connection, frame);
    }
    send_answer(connection);
    return true;
  }

  void greet(Connection& connection, const Frame& frame) {
    if (frame.size() != 2 || frame.front() != kGreeting) {
      connection.is_over = true;
    } else if (door_ == Door::kUser && !is_of_this_user(connection.socket)) {
      refuse(connection, "it belongs to another user");
    } else if (!is_same_token(frame.back(), token_)) {
      refuse(connection, "it has another token");
    } else if (count(Kind::kMembers) >= limits_.max_members) {
      refuse(connection, "there are too many processes");
    } else {
      connection.is_member = true;
      connection.end = kNever;
      connection.answer = bytes_of({kGreeting});
    }
  }

  // The answer is not kept for later: it is the first one, so it fits into the socket's buffer.
  static void refuse(Connection& connection, const char* why) {
    const std::string answer = bytes_of({kRefused, why});
    send(connection.socket.get(), answer.data(), answer.size(), kSendFlags);
    connection.is_over = true;
  }

  static void send_answer(Connection& connection) {
    if (connection.is_over) return;
    const ssize_t size = send(connection.socket.get(), connection.answer.data(),
                              connection.answer.size(), kSendFlags);
    if (size < 0) {
      connection.is_over = !is_temporary(errno);
      return;
    }
    connection.answer.erase(0, static_cast<std::size_t>(size));
  }

  Socket listener_;
  Door door_;
  std::string token_;
  StoreLimits limits_;
  StoreValues values_;
  std::vector<Connection> connections_;
  bool has_no_descriptors_ = false;  // nothing can be accepted for a moment
  Socket wake_;
  Socket waker_;
  std::thread thread_;
};

StoreServer::StoreServer(Socket listener, Door door, std::string token, const StoreLimits& limits)
    : service_(std::make_unique<Service>(std::move(listener), door, std::move(token), limits)) {}

StoreServer::~StoreServer() = default;

}  // namespace trainer::launch
