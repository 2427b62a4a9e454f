// SPDX-License-Identifier: Apache-2.0
// The rendezvous of the ranks: rank 0 hosts a store (launch/store_server.h) at a free port, or at
// MASTER_PORT if that is set, and tells the others its address and a token that clients must
// present. If the launcher tells only an address, the user can set the token, and on one machine
// the system tells which user a process belongs to. Each rank enters its arrival in the store,
// waits for all others with a time limit, and then connects to each by Gloo, at the address by
// which it reaches rank 0. Before that, two processes with the same rank and runs of different
// sizes are detected.
#include "trainer/distributed/join.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "trainer/base/error.h"

#ifdef TRAINER_HAS_GLOO

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <exception>
#include <memory>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

#include "trainer/base/io/log.h"
#include "trainer/base/text/format.h"
#include "trainer/base/text/parse.h"
#include "trainer/base/time/stopwatch.h"
#include "trainer/distributed/rank_text.h"
#include "trainer/launch/addresses.h"
#include "trainer/launch/rendezvous.h"
#include "trainer/launch/store_client.h"
#include "trainer/launch/store_server.h"
#include "trainer/launch/token.h"

#include "distributed/c10d_store.h"
#include "distributed/gloo_transport.h"
#include "distributed/nccl.h"
#include "distributed/process_settings.h"
#include "distributed/rank_store.h"
#include "distributed/shared_memory_transport.h"
#include "distributed/torchrun_store.h"
#include "distributed/wait_notice.h"
#include "distributed/within.h"

namespace trainer::dist {
namespace {

using launch::Address;
using launch::Door;
using launch::Meeting;
using Milliseconds = std::chrono::milliseconds;

constexpr const char* kLocalHost = "127.0.0.1";

[[noreturn]] void fail(const std::string& problem) { throw Error(ErrorKind::kDevice, problem); }

class Joining {
 public:
  explicit Joining(const JoinOptions& options)
      : options_(options),
        place_(options.place),
        rendezvous_(launch::find_rendezvous(place_, launch::process_environment, options.folder)) {}

  World join() {
    try {
      return connect();
    } catch (const Error&) {
      throw;
    } catch (const std::exception& e) {
      fail(
          fmt::format("{}: lost the store of rank 0 while the run started: {}; see the output of "
                      "rank 0",
                      to_text(address_), reason_of(e)));
    }
  }

 private:
  World connect() {
    keep_quiet();
    const WaitNotice notice(waiting_text());
    meet();
    arrive();
    const std::vector<std::string> hosts = wait_for_all();
    GlooGroup group{.store = entries(),
                    .group = shared(connect_all()),
                    .rank = place_.rank,
                    .hosts = hosts,
                    .timeout = options_.timeout,
                    .start_timeout = options_.start_timeout};
    return {place_.rank, place_.size,
            with_shared_memory(make_gloo_transport(std::move(group)), notices(hosts), options_),
            [store = shared(as_c10d_store(client_)), rank = place_.rank, size = place_.size,
             timeout = options_.timeout](c10::Device device) {
              return connect_nccl(store, rank, size, timeout, device);
            }};
  }

  // A process that waits in vain most often has a launcher's variable that was left over, so the
  // text says how to train alone.
  std::string waiting_text() const {
    const std::string others =
        place_.size == 2 ? fmt::format("rank {}", 1 - place_.rank) : "the other ranks";
    return fmt::format(
        "rank {} of {} ({}) waits for {}, for up to {}; to train by itself, set "
        "distributed.enabled=off",
        place_.rank, place_.size, launch::name_of(place_.launcher), others,
        human_duration(std::chrono::duration<double>(options_.start_timeout).count()));
  }

  Notices notices(const std::vector<std::string>& hosts) const {
    const auto count = std::make_shared<int>(0);
    return {
        .rank = place_.rank,
        .hosts = hosts,
        .publish =
            [this, count](const std::string& mine) {
              entries().set(notice_name(++*count), place_.rank, mine);
            },
        .read = [this, count](int64_t rank) { return entries().get(notice_name(*count), rank); }};
  }

  static std::string notice_name(int count) { return fmt::format("notice{}", count); }

  RankStore entries() const { return {client_, server_, options_.start_timeout}; }

  template <class Value>
  static std::shared_ptr<Value> shared(const c10::intrusive_ptr<Value>& pointer) {
    return {pointer.get(), [pointer](Value*) {}};
  }

  Milliseconds left() const {
    return std::max(Milliseconds(1),
                    options_.start_timeout - in_milliseconds(stopwatch_.seconds()));
  }

  void meet() {
    if (rendezvous_.meeting == Meeting::kAddress) {
      address_ = rendezvous_.is_local ? Address{kLocalHost, rendezvous_.port, Door::kUser}
                                      : Address{rendezvous_.host, rendezvous_.port};
      token_ = launch::token_of_user(launch::process_environment);
      if (place_.rank == 0) host(address_);
      connect_to_store();
      if (place_.rank == 0) warn_of_strangers();
    } else if (place_.rank == 0) {
      host_and_tell();
    } else {
      find_host();
    }
  }

  void host(const Address& address) {
    launch::Socket listener = launch::listen_at(address);
    if (!listener.is_open()) {
      const std::string why =
          errno == EADDRINUSE ? "another program uses it" : std::generic_category().message(errno);
      fail(fmt::format("rank 0 cannot listen on port {}: {}; choose another MASTER_PORT",
                       address.port, why));
    }
    if (address.port == 0) address_.port = launch::port_of(listener);
    constexpr std::size_t kMoreConnections = 64;
    launch::StoreLimits limits;
    limits.max_members = static_cast<std::size_t>(place_.size) + kMoreConnections;
    server_ =
        std::make_shared<launch::StoreServer>(std::move(listener), address.door, token_, limits);
  }

  void connect_to_store() {
    // Rank 0 reaches its own store immediately or never.
    constexpr Milliseconds kToItself{5000};
    const Milliseconds limit = place_.rank == 0 ? std::min(left(), kToItself) : left();
    try {
      client_ = std::make_shared<launch::StoreClient>(address_, token_, limit);
    } catch (const std::exception& e) {
      if (place_.rank == 0) {
        fail(
            fmt::format("rank 0 runs on {}, which does not reach itself at {} ({}); set "
                        "MASTER_ADDR to an address of this machine{}, or start rank 0 on the "
                        "machine that has it",
                        launch::host_name(), to_text(address_), e.what(), own_addresses_text()));
      }
      fail(
          fmt::format("{}: expected the store of rank 0 there, got {}; check MASTER_ADDR and "
                      "MASTER_PORT, and that no other job uses them",
                      to_text(address_), e.what()));
    }
  }

  void warn_of_strangers() const {
    if (!token_.empty() || address_.door == Door::kUser) return;
    log::warning(
        fmt::format("{}: every program that reaches this port can disturb the run, as no token is "
                    "set; set TRAINER_RENDEZVOUS_TOKEN, the same for all processes, unless the "
                    "network is trusted",
                    to_text(address_)));
  }

  static std::string own_addresses_text() {
    const std::vector<std::string> addresses = launch::own_addresses();
    return addresses.empty() ? "" : fmt::format(" ({})", joined(addresses, " or "));
  }

  void host_and_tell() {
    token_ = launch::random_token();
    std::vector<std::string> hosts;
    if (rendezvous_.is_local) {
      hosts = {kLocalHost};
    } else if (!rendezvous_.host.empty()) {
      hosts = {rendezvous_.host};
    } else {
      hosts = launch::own_addresses();
    }
    // With several addresses, it is not known which one the others can reach, so the store listens
    // at all.
    address_.host = hosts.size() == 1 ? hosts.front() : "";
    host(address_);
    if (hosts.size() != 1) address_.host = kLocalHost;
    connect_to_store();
    std::string text = fmt::format("{} {}", address_.port, token_);
    for (const std::string& host : hosts) {
      if (text.size() + 1 + host.size() <= launch::kMaxSharedText) text += " " + host;
    }
    share(text);
  }

  void find_host() {
    std::string text = share("");
    const auto next = [&text] {
      const std::string word = text.substr(0, text.find(' '));
      text.erase(0, word.size() + 1);
      return word;
    };
    address_.port = parse_int(next()).value_or(0);
    token_ = next();
    while (!text.empty()) {
      address_.host = next();
      constexpr Milliseconds kForEach{3000};
      if (launch::connect_to(address_, std::min(left(), kForEach)).is_open()) {
        connect_to_store();
        return;
      }
    }
    fail(
        fmt::format("rank {} cannot reach rank 0 at port {} of any of its addresses; set "
                    "MASTER_ADDR to one that all machines reach, and open the port",
                    place_.rank, address_.port));
  }

  std::string share(const std::string& text) const {
    if (rendezvous_.meeting == Meeting::kStore) {
      return share_by_torchrun(rendezvous_, place_, text, left());
    }
    return launch::share_text(rendezvous_, place_, launch::process_environment, text, left());
  }

  // Returns what distinguishes the job of this process from others with the same address, if the
  // launcher tells it; else "-".
  std::string job() const {
    return rendezvous_.folder.empty() ? "-" : rendezvous_.folder.filename().string();
  }

  // Enters this rank in the store: its job, the number of processes, its address and its machine.
  void arrive() {
    own_address_ = rendezvous_.is_local ? kLocalHost : launch::local_address_towards(address_.host);
    if (entries().count("arrived", place_.rank) > 1) {
      fail(
          fmt::format("{}: rank {} is there twice; two jobs use this address, so set another "
                      "MASTER_PORT for one of them",
                      to_text(address_), place_.rank));
    }
    entries().set("rank", place_.rank,
                  fmt::format("{} {} {} {}", job(), place_.size,
                              own_address_.empty() ? "-" : own_address_, launch::host_name()));
  }

  std::vector<std::string> wait_for_all() {
    const RankStore store = entries();
    std::vector<std::string> hosts;
    for (int64_t r = 0; r < place_.size; ++r) {
      while (!store.has("rank", r)) {
        if (left() <= Milliseconds(1)) {
          fail(fmt::format(
              "rank {} of {} did not come within {} (distributed.start_timeout); see "
              "the output of its machine",
              r, place_.size,
              human_duration(std::chrono::duration<double>(options_.start_timeout).count())));
        }
        std::this_thread::sleep_for(Milliseconds(5));
      }
      std::string entry = shown(store.get("rank", r));
      const auto next = [&] {
        const std::string word = entry.substr(0, entry.find(' '));
        entry.erase(0, word.size() + 1);
        return word;
      };
      if (next() != job()) {
        fail(
            fmt::format("rank {} belongs to another job; two jobs use {}, so set another "
                        "MASTER_PORT for one of them",
                        r, to_text(address_)));
      }
      const std::string size = next();
      if (size != std::to_string(place_.size)) {
        fail(
            fmt::format("rank {} belongs to a run of {} processes, this one to a run of {}; two "
                        "jobs use {}, so set another MASTER_PORT for one of them",
                        r, size, place_.size, to_text(address_)));
      }
      const std::string address = next();
      // Rank 0 reaches itself by any address, so it takes the one by which it reaches the others.
      if (place_.rank == 0 && r > 0 && !rendezvous_.is_local && address != "-" &&
          !address.starts_with("127.")) {
        const std::string towards = launch::local_address_towards(address);
        if (!towards.empty()) own_address_ = towards;
      }
      hosts.push_back(entry);
    }
    return hosts;
  }

  c10::intrusive_ptr<c10d::ProcessGroupGloo> connect_all() {
    using Group = c10d::ProcessGroupGloo;
    // Connecting takes up to five times this limit.
    auto options = Group::Options::create(std::max(Milliseconds(1000), left() / 5));
    const char* interface = std::getenv("GLOO_SOCKET_IFNAME");
    const std::string device =
        interface != nullptr ? fmt::format("interface {}", interface) : own_address_;
    options->threads = 1;
    const auto connect = [store = as_c10d_store(client_), options, interface,
                          address = own_address_, rank = static_cast<int>(place_.rank),
                          size = static_cast<int>(place_.size)] {
      give_way();  // this thread ends soon, but the thread that Gloo starts stays and inherits this
      options->devices.push_back(interface != nullptr ? Group::createDeviceForInterface(interface)
                                                      : Group::createDeviceForHostname(address));
      return c10::make_intrusive<Group>(
          c10::make_intrusive<c10d::PrefixStore>("trainer/gloo", store), rank, size, options);
    };
    try {
      return within(left() + Milliseconds(1000), "no answer", connect);
    } catch (const std::exception& e) {
      fail(
          fmt::format("rank {} cannot connect to the others from {}: {}; set GLOO_SOCKET_IFNAME "
                      "to the interface of the network between the machines",
                      place_.rank, device, reason_of(e)));
    }
  }

  const JoinOptions& options_;
  const launch::Place& place_;
  launch::Rendezvous rendezvous_;
  Stopwatch stopwatch_;
  Address address_;  // address of the store
  std::string own_address_;
  std::string token_;
  std::shared_ptr<launch::StoreServer> server_;  // set on rank 0 only
  std::shared_ptr<launch::StoreClient> client_;
};

}  // namespace

World join(const JoinOptions& options) { return Joining(options).join(); }

}  // namespace trainer::dist

#else

namespace trainer::dist {

World join(const JoinOptions& options) {
  throw Error(ErrorKind::kDevice,
              fmt::format("{} started {} processes, and this build has no Gloo to connect them; "
                          "install its headers (Debian: libgloo-dev) and build again, or start one "
                          "process",
                          launch::name_of(options.place.launcher), options.place.size));
}

}  // namespace trainer::dist

#endif
