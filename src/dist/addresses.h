// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace trainer::dist {

/// A port of a machine.
struct Address {
  std::string host;
  int64_t port = 0;
};

/// "10.0.0.1:29400"
std::string to_text(const Address& address);

/// The address of this machine from which the route to another one starts; empty: none.
std::string local_address_towards(const std::string& host);

/// The addresses of this machine by which others may reach it.
std::vector<std::string> own_addresses();

/// Whether something listens there, within the time.
bool can_connect(const Address& address, std::chrono::milliseconds limit);

}  // namespace trainer::dist
