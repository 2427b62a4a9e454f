// SPDX-License-Identifier: Apache-2.0
#include "trainer/launch/addresses.h"

#include <fcntl.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <memory>
#include <utility>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <net/if.h>

namespace trainer::launch {
namespace {

// The socket is closed in programs that this process starts. macOS has no SOCK_CLOEXEC, which would
// do both in one call.
Socket open_socket(int family, int type) {
  Socket result(socket(family, type, 0));
  fcntl(result.get(), F_SETFD, FD_CLOEXEC);
#ifdef SO_NOSIGPIPE
  const int yes = 1;
  setsockopt(result.get(), SOL_SOCKET, SO_NOSIGPIPE, &yes, sizeof yes);
#endif
  return result;
}

struct FreeAddresses {
  void operator()(addrinfo* addresses) const { freeaddrinfo(addresses); }
};

// Returns the first address of a host, an IPv4 address if there is one, or nullptr.
std::unique_ptr<addrinfo, FreeAddresses> resolve(const Address& address, int socket_type) {
  addrinfo hints{};
  hints.ai_socktype = socket_type;
  addrinfo* found = nullptr;
  for (const int family : {AF_INET, AF_UNSPEC}) {
    hints.ai_family = family;
    if (getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(), &hints, &found) ==
        0) {
      break;
    }
    found = nullptr;
  }
  return std::unique_ptr<addrinfo, FreeAddresses>(found);
}

#ifdef __linux__
constexpr bool kHasUserSockets = true;
#else
constexpr bool kHasUserSockets = false;
#endif
constexpr int64_t kDay = int64_t{24} * 60 * 60 * 1000;  // milliseconds; poll() takes them as int

/// A name in Linux's abstract socket namespace, so that no file is left behind.
struct UserName {
  sockaddr_un address{};
  socklen_t size = 0;

  const sockaddr* as_address() const { return reinterpret_cast<const sockaddr*>(&address); }
};

UserName user_name(int64_t port) {
  UserName name;
  const std::string text = fmt::format("trainer-{}", port);
  name.address.sun_family = AF_UNIX;
  std::copy(text.begin(), text.end(), &name.address.sun_path[1]);
  name.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text.size());
  return name;
}

/// Closes the socket but keeps errno. Returns a closed socket.
Socket failed(Socket socket) {
  const int why = errno;
  { const Socket closed = std::move(socket); }
  errno = why;
  return {};
}

Socket listening(int family, const sockaddr* address, socklen_t size) {
  constexpr int kWaiting = 512;
  Socket listener = open_socket(family, SOCK_STREAM);
  if (!listener.is_open()) return listener;
  const int yes = 1;
  const int no = 0;
  setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (family == AF_INET6) setsockopt(listener.get(), IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no);
  if (bind(listener.get(), address, size) != 0 || listen(listener.get(), kWaiting) != 0) {
    return failed(std::move(listener));
  }
  return listener;
}

Socket listen_everywhere(int64_t port) {
  sockaddr_in6 both{};
  both.sin6_family = AF_INET6;
  both.sin6_port = htons(static_cast<uint16_t>(port));
  Socket listener = listening(AF_INET6, reinterpret_cast<sockaddr*>(&both), sizeof both);
  if (listener.is_open() || errno == EADDRINUSE) return listener;
  sockaddr_in old{};  // for systems without IPv6
  old.sin_family = AF_INET;
  old.sin_port = both.sin6_port;
  return listening(AF_INET, reinterpret_cast<sockaddr*>(&old), sizeof old);
}

Socket connected(int family, const sockaddr* address, socklen_t size,
                 std::chrono::milliseconds limit) {
  Socket socket = open_socket(family, SOCK_STREAM);
  fcntl(socket.get(), F_SETFL, O_NONBLOCK);
  if (connect(socket.get(), address, size) == 0) return socket;
  if (errno != EINPROGRESS) return failed(std::move(socket));
  if (!wait_for_events(socket.get(), POLLOUT, limit)) {
    errno = ETIMEDOUT;
    return failed(std::move(socket));
  }
  int error = 0;
  socklen_t error_size = sizeof error;
  getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &error_size);
  errno = error;
  return error == 0 ? std::move(socket) : failed(std::move(socket));
}

bool is_loopback(const in_addr& number) { return ntohl(number.s_addr) >> 24U == IN_LOOPBACKNET; }

bool is_loopback(const addrinfo& address) {
  if (address.ai_family == AF_INET) {
    return is_loopback(reinterpret_cast<const sockaddr_in*>(address.ai_addr)->sin_addr);
  }
  return IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6*>(address.ai_addr)->sin6_addr);
}

}  // namespace

Socket::~Socket() {
  if (descriptor_ >= 0) close(descriptor_);
}

std::string to_text(const Address& address) {
  return fmt::format("{}:{}", address.host, address.port);
}

std::string local_address_towards(const std::string& host) {
  const auto address = resolve({host, 9}, SOCK_DGRAM);  // UDP: connect() sends nothing
  if (address == nullptr) return "";
  const Socket socket = open_socket(address->ai_family, SOCK_DGRAM);
  if (connect(socket.get(), address->ai_addr, address->ai_addrlen) != 0) return "";
  sockaddr_storage local{};
  socklen_t size = sizeof local;
  auto* as_address = reinterpret_cast<sockaddr*>(&local);
  std::array<char, NI_MAXHOST> text{};
  if (getsockname(socket.get(), as_address, &size) != 0 ||
      getnameinfo(as_address, size, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST) != 0) {
    return "";
  }
  return text.data();
}

std::vector<std::string> own_addresses() {
  ifaddrs* first = nullptr;
  std::vector<std::string> addresses;
  if (getifaddrs(&first) != 0) return addresses;
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(first, freeifaddrs);
  for (const ifaddrs* i = first; i != nullptr; i = i->ifa_next) {
    if (i->ifa_addr == nullptr || i->ifa_addr->sa_family != AF_INET ||
        (i->ifa_flags & IFF_LOOPBACK) != 0 || (i->ifa_flags & IFF_UP) == 0) {
      continue;
    }
    std::array<char, INET_ADDRSTRLEN> text{};
    const auto* address = reinterpret_cast<const sockaddr_in*>(i->ifa_addr);
    if (inet_ntop(AF_INET, &address->sin_addr, text.data(), text.size()) != nullptr) {
      addresses.emplace_back(text.data());
    }
  }
  return addresses;
}

bool is_loopback(const std::string& host) {
  in_addr number{};
  if (inet_pton(AF_INET, host.c_str(), &number) == 1) return is_loopback(number);
  in6_addr long_number{};
  return inet_pton(AF_INET6, host.c_str(), &long_number) == 1 && IN6_IS_ADDR_LOOPBACK(&long_number);
}

Socket listen_at(const Address& address) {
  if (address.door == Door::kUser && kHasUserSockets) {
    const UserName name = user_name(address.port);
    return listening(AF_UNIX, name.as_address(), name.size);
  }
  if (address.host.empty()) return listen_everywhere(address.port);
  const auto resolved = resolve(address, SOCK_STREAM);
  if (resolved == nullptr || (!is_loopback(address.host) && is_loopback(*resolved))) {
    return listen_everywhere(address.port);
  }
  Socket listener = listening(resolved->ai_family, resolved->ai_addr, resolved->ai_addrlen);
  if (listener.is_open() || errno != EADDRNOTAVAIL) return listener;
  return listen_everywhere(address.port);
}

int64_t port_of(const Socket& listener) {
  sockaddr_storage local{};
  socklen_t size = sizeof local;
  getsockname(listener.get(), reinterpret_cast<sockaddr*>(&local), &size);
  if (local.ss_family == AF_INET) return ntohs(reinterpret_cast<sockaddr_in&>(local).sin_port);
  return ntohs(reinterpret_cast<sockaddr_in6&>(local).sin6_port);
}

bool wait_for_events(int descriptor, short events, std::chrono::milliseconds limit) {
  using std::chrono::steady_clock;
  const steady_clock::time_point end = steady_clock::now() + limit;
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - steady_clock::now());
    pollfd waiting{.fd = descriptor, .events = events, .revents = 0};
    const int count =
        poll(&waiting, 1, static_cast<int>(std::clamp<int64_t>(left.count(), 0, kDay)));
    if (count >= 0 || errno != EINTR) return count > 0;
  }
}

Socket connect_to(const Address& address, std::chrono::milliseconds limit) {
  if (address.door == Door::kUser && kHasUserSockets) {
    const UserName name = user_name(address.port);
    return connected(AF_UNIX, name.as_address(), name.size, limit);
  }
  const auto resolved = resolve(address, SOCK_STREAM);
  if (resolved == nullptr) {
    errno = EADDRNOTAVAIL;
    return {};
  }
  Socket socket = connected(resolved->ai_family, resolved->ai_addr, resolved->ai_addrlen, limit);
  const int yes = 1;
  if (socket.is_open()) setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  return socket;
}

bool is_of_this_user(const Socket& connection) {
#ifdef __linux__
  ucred peer{};
  socklen_t size = sizeof peer;
  return getsockopt(connection.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
         peer.uid == geteuid();
#else
  return connection.is_open();
#endif
}

}  // namespace trainer::launch
