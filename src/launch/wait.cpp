// SPDX-License-Identifier: Apache-2.0
// Ranks wait for each other, and one of them may never come. So every wait of this layer has a time
// limit (on the steady clock, because the time of day may change), and its error says who waited
// for whom.
#include "trainer/launch/wait.h"

#include <algorithm>

#include <fmt/format.h>

#include "trainer/base/error.h"
#include "trainer/base/text/format.h"

#include "launch/wait.h"

namespace trainer::launch {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

Wait begin_wait(const Place& place, milliseconds timeout) {
  return {place, timeout, steady_clock::now() + timeout};
}

milliseconds time_left(const Wait& wait) {
  return std::max(std::chrono::ceil<milliseconds>(wait.end - steady_clock::now()),
                  milliseconds::zero());
}

void fail(const Place& place, const std::string& problem, const std::string& fix) {
  throw Error(ErrorKind::kDevice,
              fmt::format("{}: rank {} of {} {}; {}, or set distributed.enabled=off to run by "
                          "itself",
                          name_of(place.launcher), place.rank, place.size, problem, fix));
}

void fail_late(const Wait& wait, const std::string& whom, const std::string& fix) {
  const double seconds = std::chrono::duration<double>(wait.timeout).count();
  fail(wait.place, fmt::format("waited {} for {}", human_duration(seconds), whom), fix);
}

}  // namespace trainer::launch
