// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "trainer/config/config.h"  // IWYU pragma: keep
#include "trainer/config/load.h"

#include "devices/results.h"
#include "workload.h"

namespace trainer::bench {

/// A precision that can be requested.
struct PrecisionChoice {
  std::string name;
  config::Precision value = config::Precision::kFp32;
  double max_loss_difference = 0;  // above it a row's loss is wrong
};

/// All precisions in the order of the table, the simplest first.
const std::vector<PrecisionChoice>& precision_choices();

struct Options {
  std::vector<std::string> devices = {"cpu", "mps", "cuda"};
  std::vector<std::string> precisions;  // of precision_choices()
  std::vector<std::string> train_steps = {"fused", "autograd"};
  std::vector<Workload> workloads;  // models times batch sizes; empty with config_files
  std::vector<std::string> config_files;
  std::vector<config::Override> overrides;  // of config_files
  std::vector<int64_t> batch_sizes;         // with config_files; empty: that of the configuration
  Pass pass = Pass::kTraining;
  int64_t warmup_steps = 10;
  int64_t steps = 50;
  int64_t check_steps = 10;
  int64_t growth_steps = 1000;
  double max_seconds = 5;   // per row; remaining steps are omitted
  int64_t num_threads = 0;  // 0: all usable CPUs
  std::string json;         // files; empty: none
  std::string baseline;
  std::string history;
  double max_slowdown = 5;    // percent
  double max_lost = 10;       // percent
  int64_t num_checks = 0;     // repetitions for the consistency check, 0: no check
  double max_variation = 10;  // percent
  std::vector<std::string> google_arguments;

  std::string help;  // to print instead of measuring; empty: none
};

/// Throws Error(kUsage). `arguments` are without the program's name.
Options parse_options(const std::vector<std::string>& arguments);

/// The options that affect times, for the context of a file.
nlohmann::ordered_json to_json(const Options& options);

}  // namespace trainer::bench
