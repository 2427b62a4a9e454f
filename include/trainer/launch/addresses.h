// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "trainer/launch/wait.h"

namespace trainer::launch {

/// Who may connect to a listening socket, before any token is asked for.
enum class Door : uint8_t {
  kNetwork,  // anybody who reaches the port
  kUser,     // processes of the same user on this machine (Linux); elsewhere as kNetwork
};

/// The address at which rank 0 listens. `host` is a name or a number; empty: all interfaces. With
/// kUser nothing listens to the network, and the port is only part of a socket's name.
struct Address {
  std::string host;
  int64_t port = 0;
  Door door = Door::kNetwork;
};

/// Returns the host and the port for messages: "10.0.0.1:29400".
std::string to_text(const Address& address);

/// Returns whether `host` is a loopback address such as 127.0.0.1 or ::1; false for names.
bool is_loopback(const std::string& host);

/// Returns the address of this machine from which it would connect to `host`; empty if there is no
/// route.
std::string local_address_towards(const std::string& host);

/// Returns the IPv4 addresses of this machine by which others may reach it, without loopback.
std::vector<std::string> own_addresses();

/// Returns a socket that listens at `address`, at a free port if the port is 0. It listens on all
/// interfaces if the host is not an address of this machine, or is a name that resolves to a
/// loopback address here, because it may resolve to another one elsewhere. If that fails, the
/// socket is closed and errno has the reason.
Socket listen_at(const Address& address);

/// Returns the port at which a socket listens.
int64_t port_of(const Socket& listener);

/// Connects to `address` within the time `limit`. If that fails, the returned socket is closed and
/// errno has the reason.
Socket connect_to(const Address& address, std::chrono::milliseconds limit);

/// Returns whether the process at the other end of a connection through Door::kUser belongs to this
/// user. Only Linux can tell; elsewhere this is true for any open connection.
bool is_of_this_user(const Socket& connection);

/// Waits for one of the poll() `events` at a descriptor. Returns false if none happens within
/// `limit`.
bool wait_for_events(int descriptor, short events, std::chrono::milliseconds limit);

}  // namespace trainer::launch
