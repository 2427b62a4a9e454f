// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "trainer/device/device.h"

#include "devices/options.h"
#include "devices/results.h"
#include "workload.h"

namespace trainer::bench {

/// A row to measure.
struct RowPlan {
  Setting setting;
  Workload workload;
  c10::Device device = c10::Device(c10::kCPU);
  config::StepKind step = config::StepKind::kAuto;
  config::Precision precision = config::Precision::kFp32;
  double max_loss_difference = 0;
};

/// All requested combinations: to measure, or absent with the reason.
struct Plan {
  std::vector<RowPlan> rows;
  std::vector<Missing> absent;
};

Plan make_plan(const Options& options, const device::AvailableDevices& available);

/// The measurements of a row so far.
struct RowTimes {
  std::vector<double> step_ms;
  std::vector<double> repetition_medians;
  uint64_t peak_memory_bytes = 0;
  double loss_difference = 0;  // the largest
  std::string failure;
};

/// State that all rows share; must outlive the benchmarks.
struct Bench {
  Options options;
  Plan plan;
  std::vector<RowTimes> times;                            // [plan.rows]
  std::map<std::string, std::vector<double>> references;  // losses of the first steps, by workload
  std::size_t num_started = 0;
};

/// `options.num_threads` must be above 0.
Bench make_bench(const Options& options, Plan plan);

/// Registers each row with Google Benchmark; it writes its measurements to `bench`.
void register_rows(Bench& bench);

/// The measured and failed rows in the order of the plan, without the context.
Results collect(const Bench& bench);

}  // namespace trainer::bench
