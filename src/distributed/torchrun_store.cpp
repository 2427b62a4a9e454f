// SPDX-License-Identifier: Apache-2.0
#include "distributed/torchrun_store.h"

#ifdef TRAINER_HAS_GLOO

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "trainer/base/error.h"
#include "trainer/launch/addresses.h"

#include "distributed/gloo_transport.h"
#include "distributed/within.h"

namespace trainer::dist {
namespace {

using std::chrono::milliseconds;
using StorePointer = c10::intrusive_ptr<c10d::Store>;

// LibTorch 1.13 has a second connection for each client of a store, and a thread that listens to it
// and lets its errors end the process: so does the end of the agent. The thread that joins the run
// sees the same error on the first connection, and ends with a message. So the listening thread
// stops here forever, and the store is never destroyed, because that would wait for this thread.
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

// Disables libuv, the default in LibTorch 2, because Debian builds it without libuv.
template <class Options>
void choose_client(Options& options) {
  if constexpr (requires { options.useLibUV; }) options.useLibUV = false;
}

}  // namespace

std::string share_by_torchrun(const launch::Rendezvous& rendezvous, const launch::Place& place,
                              const std::string& text, std::chrono::milliseconds limit) {
  c10d::TCPStoreOptions options;
  options.port = static_cast<uint16_t>(rendezvous.port);
  options.isServer = false;
  options.waitWorkers = false;
  // At least one second, because LibTorch uses whole seconds.
  options.timeout = std::max(limit, milliseconds(1000));
  choose_client(options);
  const auto problem =
      [where = launch::to_text({rendezvous.host, rendezvous.port})](const std::string& why) {
        return fmt::format("{}: expected the store of torchrun there, got {}", where, why);
      };
  const auto share = [=]() -> std::string {
    try {
      const StorePointer store = c10::make_intrusive<c10d::TCPStore>(rendezvous.host, options);
      keep_for_ever(store);
      const std::string key = rendezvous.key_prefix + "trainer";
      if (place.rank == 0) store->set(key, std::vector<uint8_t>(text.begin(), text.end()));
      const std::vector<uint8_t> shared = store->get(key);
      return {shared.begin(), shared.end()};
    } catch (const std::exception& e) {
      throw Error(ErrorKind::kDevice, problem(reason_of(e)));
    }
  };
  return within(limit + milliseconds(1000), problem("no answer"), share);
}

}  // namespace trainer::dist

#endif
