// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "trainer/launch/socket.h"

namespace trainer::launch {

/// Who may connect to a listening socket, before any token is asked for.
enum class Door : uint8_t {
  kNetwork,  // whoever reaches the port
  kUser,     // processes of the same user on this machine, if the system can tell (Linux)
};

/// Where rank 0 listens. `host` is a name or number; empty: on all interfaces. Behind kUser nothing
/// listens to the network: the port is only a name there.
struct Address {
  std::string host;
  int64_t port = 0;
  Door door = Door::kNetwork;
};

/// "10.0.0.1:29400"
std::string to_text(const Address& address);

/// Whether it is a number that leads back to the machine itself: 127.0.0.1, ::1.
bool is_loopback(const std::string& host);

/// The address of this machine from which the route to another one starts; empty: none.
std::string local_address_towards(const std::string& host);

/// The addresses of this machine by which others may reach it.
std::vector<std::string> own_addresses();

/// A socket that listens there, at a free port if the port is 0. A host that this machine has not,
/// or that leads back to it by a name, which may lead others elsewhere, stands for all interfaces.
/// Closed, with errno, if that fails.
Socket listen_at(const Address& address);

/// The port of a listening socket.
int64_t port_of(const Socket& listener);

/// A connection, within the time; closed, with errno, if there is none.
Socket connect_to(const Address& address, std::chrono::milliseconds limit);

/// Whether the process at the other end of a connection through Door::kUser is of this user.
bool is_of_this_user(const Socket& connection);

/// Waits for poll() `events` at a descriptor; false after the time.
bool wait_for_events(int descriptor, short events, std::chrono::milliseconds limit);

}  // namespace trainer::launch
