// SPDX-License-Identifier: Apache-2.0
// How the ranks come together: rank 0 hosts a store (c10d's TCPStore) at a port that is free,
// unless the launcher hosts one or names a port, and tells the others where (launch/rendezvous.h).
// Each rank enters its arrival there, waits for all others with a time limit of its own
// (LibTorch 1.13 waits without an error), and then connects to each by Gloo, at the address by
// which it reaches rank 0. Two ranks with one number, or runs of other sizes, are found before
// that.
#include "trainer/dist/join.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "trainer/core/error.h"

#ifdef TRAINER_HAS_GLOO

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <future>
#include <memory>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "trainer/core/format.h"
#include "trainer/core/parse.h"
#include "trainer/core/stopwatch.h"
#include "trainer/launch/rendezvous.h"

#include "dist/addresses.h"
#include "dist/gloo_transport.h"
#include "dist/nccl.h"
#include "dist/process_settings.h"
#include "dist/rank_store.h"
#include "dist/shared_memory_transport.h"

namespace trainer::dist {
namespace {

using launch::Meeting;
using Milliseconds = std::chrono::milliseconds;

constexpr const char* kLocalHost = "127.0.0.1";

[[noreturn]] void fail(const std::string& problem) { throw Error(ErrorKind::kDevice, problem); }

using StorePointer = c10::intrusive_ptr<c10d::Store>;

// LibTorch 1.13 has a second connection for each client of a store, and a thread that listens to it
// and lets its errors end the process: so does a reset, where rank 0 is killed before it has
// accepted that connection. The thread that joins sees the same on the first connection, and ends
// with a message. So the other one stops there, and nobody waits for its end: stores are kept.
[[noreturn]] void stop_listening() {
  try {
    if (std::current_exception()) std::rethrow_exception(std::current_exception());
  } catch (const std::system_error&) {
    while (true) pause();
  } catch (...) {
    std::abort();
  }
  std::abort();
}

void keep_for_ever(const StorePointer& store) {
  static auto& kept = *new std::vector<StorePointer>();
  kept.push_back(store);
  std::set_terminate(stop_listening);
}

// Debian builds LibTorch 2 without libuv, which is the default there.
template <class Options>
void choose_server(Options& options) {
  if constexpr (requires { options.useLibUV; }) options.useLibUV = false;
}

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
    connect_to_store();
    arrive();
    const std::vector<std::string> hosts = wait_for_all();
    const std::shared_ptr<c10d::Store> store = shared(store_);
    GlooGroup group{.store = RankStore(store),
                    .group = shared(connect_all()),
                    .rank = place_.rank,
                    .hosts = hosts,
                    .timeout = options_.timeout,
                    .start_timeout = options_.start_timeout};
    return {place_.rank, place_.size,
            with_shared_memory(make_gloo_transport(std::move(group)), notices(hosts), options_),
            [store, rank = place_.rank, size = place_.size, timeout = options_.timeout](
                c10::Device device) { return connect_nccl(store, rank, size, timeout, device); }};
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

  RankStore entries() const { return RankStore(shared(store_)); }

  template <class Value>
  static std::shared_ptr<Value> shared(const c10::intrusive_ptr<Value>& pointer) {
    return {pointer.get(), [pointer](Value*) {}};
  }

  Milliseconds left() const {
    return std::max(Milliseconds(1),
                    options_.start_timeout - in_milliseconds(stopwatch_.seconds()));
  }

  bool is_on_one_machine() const { return place_.local_size == place_.size; }

  // Runs what waits without a limit of its own, for example a client of c10d's store whose port is
  // some other program's. It is left behind if it does not return; the process ends anyway.
  template <class Run>
  static auto within(Milliseconds limit, const std::string& what, const Run& run) {
    std::packaged_task<decltype(run())()> task(run);
    auto result = task.get_future();
    std::thread(std::move(task)).detach();
    if (result.wait_for(limit) != std::future_status::ready) fail(what);
    return result.get();
  }

  StorePointer open_store(const Address& address, bool is_server) const {
    c10d::TCPStoreOptions options;
    options.port = static_cast<uint16_t>(address.port);
    options.isServer = is_server;
    options.waitWorkers = false;
    options.timeout = std::max(left(), Milliseconds(1000));  // in whole seconds
    choose_server(options);
    const std::string where = to_text(address);
    const auto problem = [where](const std::string& why) {
      return fmt::format(
          "{}: expected the store of rank 0 there, got {}; check MASTER_ADDR and MASTER_PORT, and "
          "that no other job uses them",
          where, why);
    };
    const auto open = [address, options, is_server, problem]() -> StorePointer {
      try {
        StorePointer store = c10::make_intrusive<c10d::TCPStore>(address.host, options);
        keep_for_ever(store);
        return store;
      } catch (const std::exception& e) {
        const std::string why = reason_of(e);
        if (!is_server) fail(problem(why));
        const bool is_taken = why.find("Address already in use") != std::string::npos;
        fail(fmt::format("rank 0 cannot listen on port {}: {}; choose another MASTER_PORT",
                         address.port, is_taken ? "another program uses it" : why));
      }
    };
    return within(left() + Milliseconds(1000), problem("no answer"), open);
  }

  void connect_to_store() {
    if (rendezvous_.meeting == Meeting::kStore || rendezvous_.meeting == Meeting::kAddress) {
      address_ = {rendezvous_.host, rendezvous_.port};
      const bool is_server = place_.rank == 0 && rendezvous_.meeting == Meeting::kAddress;
      store_ = open_store(address_, is_server);
    } else if (place_.rank == 0) {
      host_and_tell();
    } else {
      find_host();
    }
    if (!rendezvous_.key_prefix.empty()) {
      store_ = c10::make_intrusive<c10d::PrefixStore>(rendezvous_.key_prefix, store_);
    }
  }

  void host_and_tell() {
    address_ = {kLocalHost, 0};
    store_ = open_store(address_, true);
    address_.port = static_cast<c10d::TCPStore&>(*store_).getPort();
    std::vector<std::string> hosts;
    if (is_on_one_machine()) {
      hosts = {kLocalHost};
    } else if (!rendezvous_.host.empty()) {
      hosts = {rendezvous_.host};
    } else {
      hosts = own_addresses();
    }
    share(fmt::format("{} {}", address_.port, fmt::join(hosts, " ")));
  }

  void find_host() {
    std::string text = share("");
    const std::size_t space = text.find(' ');
    const std::string port = text.substr(0, space);
    address_.port = parse_int(port).value_or(0);
    while (text.find(' ') != std::string::npos) {
      text.erase(0, text.find(' ') + 1);
      address_.host = text.substr(0, text.find(' '));
      if (can_connect(address_, std::min(left(), Milliseconds(3000)))) {
        store_ = open_store(address_, false);
        return;
      }
    }
    fail(
        fmt::format("rank {} cannot reach rank 0 at port {} of any of its addresses; set "
                    "MASTER_ADDR to one that all machines reach, and open the port",
                    place_.rank, address_.port));
  }

  std::string share(const std::string& text) const {
    return launch::share_text(rendezvous_, place_, launch::process_environment, text, left());
  }

  // What tells the job of this process from others with the same address, as far as the launcher
  // says it.
  std::string job() const {
    return rendezvous_.folder.empty() ? "-" : rendezvous_.folder.filename().string();
  }

  // Enters this rank: its job and machine, and the address at which others find it.
  void arrive() {
    own_address_ = is_on_one_machine() ? kLocalHost : local_address_towards(address_.host);
    const std::string entry =
        fmt::format("{} {} {} {}", job(), place_.size, own_address_.empty() ? "-" : own_address_,
                    launch::host_name());
    const std::string where = to_text(address_);
    // Nothing of this object, which may be gone before it returns.
    const auto enter = [store = entries(), rank = place_.rank, entry, where] {
      if (store.count("arrived", rank) > 1) {
        fail(
            fmt::format("{}: rank {} is there twice; two jobs use this address, so set another "
                        "MASTER_PORT for one of them",
                        where, rank));
      }
      store.set("rank", rank, entry);
      return true;
    };
    within(left(),
           fmt::format("{}: expected the store of rank 0 there, got no answer; check MASTER_ADDR "
                       "and MASTER_PORT, and that no other job uses them",
                       where),
           enter);
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
      std::string entry = store.get("rank", r);
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
      // Rank 0 reaches itself by any address; the right one is that on the way to the others.
      if (place_.rank == 0 && r > 0 && !is_on_one_machine() && address != "-" &&
          !address.starts_with("127.")) {
        const std::string towards = local_address_towards(address);
        if (!towards.empty()) own_address_ = towards;
      }
      hosts.push_back(entry);
    }
    return hosts;
  }

  c10::intrusive_ptr<c10d::ProcessGroupGloo> connect_all() {
    using Group = c10d::ProcessGroupGloo;
    // Connections take up to five times as long.
    auto options = Group::Options::create(std::max(Milliseconds(1000), left() / 5));
    const char* interface = std::getenv("GLOO_SOCKET_IFNAME");
    const std::string device =
        interface != nullptr ? fmt::format("interface {}", interface) : own_address_;
    options->threads = 1;
    const auto connect = [store = store_, options, interface, address = own_address_,
                          rank = static_cast<int>(place_.rank),
                          size = static_cast<int>(place_.size)] {
      give_way();  // this thread ends soon, Gloo's stays
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
  Address address_;  // of the store
  std::string own_address_;
  StorePointer store_;
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
