// SPDX-License-Identifier: Apache-2.0
#include "cli/time_measurement.h"

#include <cstddef>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "trainer/base/error.h"
#include "trainer/base/io/atomic_file.h"
#include "trainer/nn/cpu/peak.h"

namespace trainer::cli {
namespace {

constexpr std::size_t kMaxSpans = 200'000;  // per thread; they take about 20 MB of the file

std::optional<cpu::Peak> peak_of(const profile::Workload& workload) {
  if (workload.device != "cpu") return std::nullopt;
  return cpu::measure_peak(workload.num_threads);
}

}  // namespace

Option TimeMeasurement::trace_option() {
  return {"--trace", &trace_, "FILE", "Write a trace, which Perfetto can open"};
}

void TimeMeasurement::start() {
  if (has_trace()) {
    std::filesystem::path folder = std::filesystem::path(trace_).parent_path();
    if (folder.empty()) folder = ".";
    std::error_code problem;
    if (!std::filesystem::is_directory(folder, problem)) {
      throw Error(ErrorKind::kFileSystem,
                  fmt::format("--trace {}: there is no folder {}; create it, or name another file",
                              trace_, folder.string()));
    }
  }
  timeline_.emplace(has_trace() ? kMaxSpans : 0);
}

profile::Profile TimeMeasurement::finish(const profile::Workload& workload) const {
  profile::Profile profile = profile::make_profile(*timeline_, workload, std::nullopt);
  if (has_trace()) {
    write_file_atomically(trace_, profile::chrome_trace(*timeline_, workload.network));
  }
  profile.peak = peak_of(workload);
  return profile;
}

}  // namespace trainer::cli
