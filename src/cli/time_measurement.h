// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "trainer/base/time/timeline.h"
#include "trainer/diagnose/profile/profile.h"

#include "cli/option.h"

namespace trainer::cli {

/// Measures where the time of a command goes, for --trace and for commands that show the times.
class TimeMeasurement {
 public:
  /// Returns the option --trace FILE, which sets where the trace is written.
  Option trace_option();
  bool has_trace() const { return !trace_.empty(); }

  bool has_started() const { return timeline_.has_value(); }

  /// Starts the measurement. Throws Error(kFileSystem) if the folder of the trace does not exist.
  void start();

  /// Returns what was measured, with the peak performance of this machine's CPU, which is measured
  /// now. Writes the trace if one was asked for. Throws Error(kFileSystem).
  profile::Profile finish(const profile::Workload& workload) const;

 private:
  std::string trace_;
  std::optional<Timeline> timeline_;
};

}  // namespace trainer::cli
