// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "devices/results.h"

namespace trainer::bench {

/// A row of the fused step on the CPU whose steps all took nearly `median` ms.
inline Row make_row(double median) {
  Row row;
  row.setting = {"cpu", "fp32", "fused", "784-256-256-10", 128};
  row.step_ms = summarize({0.99 * median, median, 1.01 * median});
  row.round_medians.assign(10, median);
  row.repetition_medians = {median};
  row.asked_steps = 3;
  row.first_step_ms = 3 * median;
  row.warmup_ms = 4 * median;
  row.memory_growth_bytes = int64_t{2} * 1024 * 1024;
  row.growth_steps = 1000;
  row.lost_share = 0.01;
  row.peak_memory_bytes = uint64_t{200} * 1024 * 1024;
  row.loss_difference = 1e-7;
  row.max_loss_difference = 1e-3;
  return row;
}

inline Row make_row(const std::string& device, const std::string& precision, double median) {
  Row row = make_row(median);
  row.setting.device = device;
  row.setting.precision = precision;
  return row;
}

inline Row with_model(Row row, std::string model, int64_t batch_size) {
  row.setting.model = std::move(model);
  row.setting.batch_size = batch_size;
  return row;
}

inline Row with_rounds(Row row, std::vector<double> medians) {
  row.round_medians = std::move(medians);
  row.step_ms.median = median(row.round_medians);
  return row;
}

inline Row with_growth(Row row, int64_t bytes) {
  row.memory_growth_bytes = bytes;
  return row;
}

/// Other programs had the CPU for a part of the time.
inline Row on_busy_machine(Row row, double lost_share = 0.48) {
  row.lost_share = lost_share;
  return row;
}

inline Row with_loss_difference(Row row, double difference) {
  row.loss_difference = difference;
  return row;
}

}  // namespace trainer::bench
