// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trainer/base/text/document.h"
#include "trainer/base/time/timeline.h"
#include "trainer/diagnose/profile/workload.h"
#include "trainer/nn/cpu/peak.h"

namespace trainer::profile {

/// The time of one stage of a run, and how often the stage was entered.
struct StageTime {
  std::string name;
  double seconds = 0;
  int64_t count = 0;
};

/// One kind of work of the steps, or a linear layer's part of it.
struct WorkTime {
  std::string name;
  std::string layer = {};  // empty: all layers together
  double seconds = 0;      // of all steps: the time of the threads divided by their number
  std::optional<double> flops_per_second = {};
  std::optional<double> bytes_per_second = {};
};

/// Where the time of a run went.
struct Profile {
  Workload workload;
  std::optional<cpu::Peak> peak;  // of the workload's threads; nothing for accelerators
  double seconds = 0;             // of the whole run, the sum of the stages
  std::vector<StageTime> stages;  // those that took any time
  double step_seconds = 0;        // of all measured steps
  std::vector<WorkTime> work;     // kinds, each followed by its layers
  double waiting_seconds = 0;     // rest of the steps: threads wait for each other, or start
  double checkpoint_seconds = 0;  // writing them, beside training
};

/// Returns the profile of `workload` from the times in `timeline`. No other thread may record
/// meanwhile.
Profile make_profile(const Timeline& timeline, Workload workload, std::optional<cpu::Peak> peak);

/// Returns tables of stages, work and memory. People see the times of work for one step; JSON has
/// seconds of all steps, rates in GFLOP/s and GB/s, and memory in bytes.
Document profile_document(const Profile& profile);

/// Returns the spans in `timeline` in the Trace Event Format, which Perfetto and chrome://tracing
/// open, with a row for each thread.
std::string chrome_trace(const Timeline& timeline, const network::NetworkSpec& network);

}  // namespace trainer::profile
