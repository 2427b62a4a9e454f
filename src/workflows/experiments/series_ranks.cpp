// SPDX-License-Identifier: Apache-2.0
#include "workflows/experiments/series_ranks.h"

#include <chrono>

#include <fmt/format.h>

#include "trainer/base/error.h"
#include "trainer/base/io/log.h"
#include "trainer/base/time/stopwatch.h"
#include "trainer/launch/launcher.h"
#include "trainer/launch/rendezvous.h"

namespace trainer::experiments {
namespace {

constexpr std::chrono::seconds kFailureTimeout{10};
constexpr const char* kFailed = "/";  // cannot be the name of a folder

}  // namespace

launch::Place join_ranks(const config::DistributedConfig& distributed,
                         const launch::Environment& environment) {
  if (!environment || distributed.enabled == config::Distributed::kOff) return {};
  const launch::Place place = launch::find_place(environment);
  if (place.size == 1) return {};
  launch::stop_with_launcher();
  log::set_rank(place.rank);
  if (place.rank > 0) log::set_console_level(log::Level::kWarning);
  return place;
}

std::string open_for_all(const launch::Place& place, double timeout,
                         const launch::Environment& environment,
                         const std::filesystem::path& meeting,
                         const std::function<std::string()>& open) {
  if (place.size == 1) return open();
  const launch::Rendezvous rendezvous = launch::find_rendezvous(place, environment, meeting);
  const auto share = [&](const std::string& text, std::chrono::milliseconds limit) {
    return launch::share_text(rendezvous, place, environment, text, limit);
  };
  std::string name;
  if (place.rank == 0) {
    try {
      name = open();
    } catch (const Error&) {
      try {
        share(kFailed, kFailureTimeout);
      } catch (const Error& e) {
        log::debug(e.what());  // the first error says more
      }
      throw;
    }
  }
  name = share(name, in_milliseconds(timeout));
  if (name != kFailed) return name;
  throw Error(ErrorKind::kFileSystem, "rank 0 cannot open the folder of the runs; see its message");
}

}  // namespace trainer::experiments
