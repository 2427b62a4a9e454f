// SPDX-License-Identifier: Apache-2.0
#include "dist/addresses.h"

#include <fcntl.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <memory>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <net/if.h>

namespace trainer::dist {
namespace {

/// A socket that is closed at the end.
class Socket {
 public:
  // Not inherited by programs that this process starts. macOS has no SOCK_CLOEXEC, which would do
  // both at once.
  Socket(int family, int type) : descriptor_(socket(family, type, 0)) {
    fcntl(descriptor_, F_SETFD, FD_CLOEXEC);
  }
  ~Socket() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  int get() const { return descriptor_; }

 private:
  int descriptor_;
};

struct FreeAddresses {
  void operator()(addrinfo* addresses) const { freeaddrinfo(addresses); }
};

// The first address of a host, of IPv4 if it has one.
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

}  // namespace

std::string to_text(const Address& address) {
  return fmt::format("{}:{}", address.host, address.port);
}

std::string local_address_towards(const std::string& host) {
  const auto address = resolve({host, 9}, SOCK_DGRAM);  // nothing is sent
  if (address == nullptr) return "";
  const Socket socket(address->ai_family, SOCK_DGRAM);
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

bool can_connect(const Address& address, std::chrono::milliseconds limit) {
  const auto resolved = resolve(address, SOCK_STREAM);
  if (resolved == nullptr) return false;
  const Socket socket(resolved->ai_family, SOCK_STREAM);
  fcntl(socket.get(), F_SETFL, O_NONBLOCK);
  if (connect(socket.get(), resolved->ai_addr, resolved->ai_addrlen) == 0) return true;
  if (errno != EINPROGRESS) return false;
  pollfd waiting{.fd = socket.get(), .events = POLLOUT, .revents = 0};
  int error = 0;
  socklen_t size = sizeof error;
  return poll(&waiting, 1, static_cast<int>(limit.count())) == 1 &&
         getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0;
}

}  // namespace trainer::dist
