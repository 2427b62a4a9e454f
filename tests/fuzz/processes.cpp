// SPDX-License-Identifier: Apache-2.0
// What a process of a run hears from its launcher and from the others.
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "trainer/launch/place.h"
#include "trainer/launch/rendezvous.h"
#include "trainer/launch/store_client.h"
#include "trainer/launch/store_server.h"

#include "fuzz/input.h"
#include "fuzz/targets.h"
#include "launch/pmi.h"
#include "launch/store_frame.h"
#include "launch/wait.h"

namespace trainer::fuzz {
namespace {

using launch::Socket;
using std::chrono::milliseconds;

constexpr const char* kToken = "token";
constexpr milliseconds kPatience{10'000};

void send_all(const Socket& socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto sent = send(socket.get(), bytes.data(), bytes.size(), launch::kSendFlags);
    if (sent <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

void receive_all(const Socket& socket) {
  std::array<char, 4096> buffer;
  while (recv(socket.get(), buffer.data(), buffer.size(), 0) > 0) {
  }
}

#ifdef __linux__
constexpr launch::Door kDoor = launch::Door::kUser;  // by TCP, ports would run out
#else
constexpr launch::Door kDoor = launch::Door::kNetwork;
#endif

launch::Address listening_address(Socket& listener) {
  launch::Address address{"127.0.0.1", kDoor == launch::Door::kUser ? 100'000 + getpid() : 0,
                          kDoor};
  for (;; ++address.port) {
    listener = launch::listen_at(address);
    if (listener.is_open()) break;
  }
  if (kDoor == launch::Door::kNetwork) address.port = launch::port_of(listener);
  return address;
}

// A store that somebody talks to, with the token or without.
void talk_to_server(std::string_view bytes, bool is_member) {
  static Socket listener;
  static const launch::Address address = listening_address(listener);
  static const launch::StoreServer server(std::move(listener), address.door, kToken,
                                          {.max_bytes = 10'000});
  const Socket client = launch::connect_to(address, kPatience);
  if (is_member) send_all(client, launch::bytes_of({launch::kGreeting, kToken}));
  send_all(client, bytes);
  shutdown(client.get(), SHUT_WR);
  receive_all(client);
}

// A store that answers anything.
void talk_to_client(std::string_view bytes, bool greets) {
  static Socket listener;
  static const launch::Address address = listening_address(listener);
  std::thread store([&] {
    const Socket connection(accept(listener.get(), nullptr, nullptr));
    if (greets) send_all(connection, launch::bytes_of({launch::kGreeting}));
    send_all(connection, bytes);
    shutdown(connection.get(), SHUT_WR);
    receive_all(connection);
  });
  try {
    launch::StoreClient client(address, kToken, milliseconds(1));
    client.find("key");
    client.add("key", 1);
    client.swap("key", "", "value");
    client.count();
  } catch (const std::runtime_error& error) {
    static_cast<void>(error);  // as it says that it fails
  }
  store.join();
}

}  // namespace

// The variables of a launcher: a line for each, NAME=VALUE.
void fuzz_launcher(std::string_view bytes) {
  std::map<std::string, std::string> variables;
  for (const std::string& line : parts_of(bytes, '\n')) {
    std::string_view value = line;
    const std::string name(take_part(value, '='));
    variables[name] = value;
  }
  const launch::Environment environment = [&](const char* name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    if (found == variables.end()) return std::nullopt;
    return found->second;
  };
  read_or_refuse([&] {
    const launch::Place place = launch::find_place(environment);
    require(place.rank >= 0 && place.rank < place.size, "a rank is none of the run");
    require(place.local_rank >= 0 && place.local_rank < place.local_size,
            "a rank is none of the machine");
    if (place.launcher != launch::Launcher::kNone) {
      launch::find_rendezvous(place, environment, folder().path());
    }
  });
}

// All that the launcher ever sends, at once.
void fuzz_pmi(std::string_view bytes) {
  Choices choices(bytes);
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) != 0) return;
  const Socket own(ends[0]);
  const Socket launcher(ends[1]);
  send_all(launcher, bytes);
  shutdown(launcher.get(), SHUT_WR);
  launch::Place place{.launcher = launch::Launcher::kMpich, .size = 2};
  if (choices.coin()) place.rank = 1;
  const launch::Wait wait = launch::begin_wait(place, kPatience);
  read_or_refuse([&] {
    if (choices.coin()) {
      launch::share_by_pmi1(wait, own.get(), "127.0.0.1 1");
    } else {
      launch::share_by_pmi2(wait, own.get(), "1", "127.0.0.1 1");
    }
  });
}

void fuzz_store(std::string_view bytes) {
  Choices choices(bytes);
  const bool knows_the_token = choices.coin();
  if (choices.coin()) {
    talk_to_client(bytes, knows_the_token);
  } else {
    talk_to_server(bytes, knows_the_token);
  }
}

}  // namespace trainer::fuzz
