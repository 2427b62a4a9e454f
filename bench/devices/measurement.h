// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "trainer/device/device.h"

#include "devices/options.h"
#include "devices/results.h"
#include "training.h"

namespace trainer::bench {

/// A row to be measured.
struct RowPlan {
  Setting setting;
  Workload workload;
  c10::Device device = c10::Device(c10::kCPU);
  config::StepKind step = config::StepKind::kAuto;
  config::Precision precision = config::Precision::kFp32;
  double max_loss_difference = 0;
};

/// Every combination that was asked for: to be measured, or absent with its reason.
struct Plan {
  std::vector<RowPlan> rows;
  std::vector<Missing> absent;
};

Plan make_plan(const Options& options, const device::AvailableDevices& available);

/// What the repetitions of a row have shown so far.
struct RowTimes {
  std::vector<double> step_ms;
  std::vector<double> repetition_medians;
  uint64_t peak_memory_bytes = 0;
  double loss_difference = 0;  // the worst
  std::string failure;
};

/// What the rows share; outlives the run of the benchmarks.
struct Bench {
  Options options;
  Plan plan;
  std::vector<RowTimes> times;                            // [plan.rows]
  std::map<std::string, std::vector<double>> references;  // losses of the first steps, by workload
  std::size_t num_begun = 0;
};

/// `options.num_threads` is settled.
Bench make_bench(const Options& options, Plan plan);

/// Makes each row a benchmark of Google Benchmark that writes into `bench`.
void register_rows(Bench& bench);

/// The rows that have been measured or have failed, in the order of the plan; no context yet.
Results collect(const Bench& bench);

}  // namespace trainer::bench
