// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "trainer/core/timeline.h"
#include "trainer/profile/profile.h"

#include "cli/option.h"

namespace trainer::cli {

/// Measures where the time of a command goes, for --trace and those who show it.
class TimeMeasurement {
 public:
  /// --trace FILE.
  Option trace_option();
  bool has_trace() const { return !trace_.empty(); }

  bool has_started() const { return timeline_.has_value(); }

  /// Measures from now on. Throws Error(kFileSystem) if the trace could not be written later.
  void start();

  /// What was measured, against the peak of this machine, which is measured now. Writes the trace.
  /// Throws Error(kFileSystem).
  profile::Profile finish(const profile::Workload& workload) const;

 private:
  std::string trace_;
  std::optional<Timeline> timeline_;
};

}  // namespace trainer::cli
