// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "trainer/base/text/json.h"

#include "devices/statistics.h"

namespace trainer::bench {

/// What a step is: a training step, or a forward pass in inference mode.
enum class Pass { kTraining, kInference };

/// The setting of a row of the table.
struct Setting {
  std::string device;      // "cpu", "mps", "cuda", "cuda:1"
  std::string precision;   // "fp32"
  std::string train_step;  // "fused" or "autograd"
  std::string model;       // "784-256-256-10", or the name of a configuration
  int64_t batch_size = 0;
  Pass pass = Pass::kTraining;
};

/// "cpu_fp32" for the fused step, the default of `trainer`, else "cpu_fp32_autograd".
std::string config_name(const Setting& setting);

/// "784-256-256-10, batch 128"
std::string workload_name(const Setting& setting);

/// "cpu_fp32/784-256-256-10/batch_128": the name in Google Benchmark and in files.
std::string row_name(const Setting& setting);

struct Row {
  Setting setting;
  Summary step_ms;                         // over all repetitions
  std::vector<double> round_medians;       // ms; round i took place beside round i of other rows
  std::vector<double> repetition_medians;  // ms
  int64_t asked_steps = 0;                 // of each repetition; the time limit may reduce them
  double first_step_ms = 0;
  double warmup_ms = 0;  // time of all steps before the first one that was as fast as timed ones
  uint64_t peak_memory_bytes = 0;
  int64_t memory_growth_bytes = 0;  // over growth_steps
  int64_t growth_steps = 0;
  double loss_difference = 0;  // relative to fp32 autograd on the CPU
  double max_loss_difference = 0;
  /// The part of the time that other programs took; in a quarter of the rounds it was more.
  /// Nothing: unknown.
  std::optional<double> lost_share = {};
};

/// Whether other programs took more than `max_lost_percent` of the time of the row.
bool was_disturbed(const Row& row, double max_lost_percent);

double samples_per_second(const Row& row);

/// Whether the loss is close to the reference; false for NaN.
bool has_right_loss(const Row& row);

/// Whether memory has grown by at most 100 MB.
bool has_bounded_memory(const Row& row);

/// Whether the row has the right loss and bounded memory.
bool is_sound(const Row& row);

/// A configuration or row without times, and the reason.
struct Missing {
  std::string name;
  std::string reason;
};

struct Results {
  Json context;  // machine, libraries, commit, options, time
  std::vector<Row> rows;
  std::vector<Missing> absent;    // configurations that this machine does not support
  std::vector<Missing> failures;  // rows that failed
};

/// Whether no row has failed and all are sound.
bool is_sound(const Results& results);

/// The accelerators of a context: "cuda:0 NVIDIA A100, 40.0 GiB, driver 550.54.15", or "none".
std::string accelerators_text(const Json& context);

/// The content of a file of --json.
std::string to_text(const Results& results);

/// Reads what to_text() wrote; `location` begins the message of the Error(kData) for anything else.
Results from_text(const std::string& text, const std::string& location);

/// Throws Error(kData) if the file cannot be read.
Results read_results(const std::filesystem::path& file);

}  // namespace trainer::bench
