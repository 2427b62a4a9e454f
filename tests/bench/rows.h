// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>

#include "devices/results.h"

namespace trainer::bench {

/// A row of the fused step on the CPU whose steps all took nearly `median` ms.
inline Row make_row(double median) {
  Row row;
  row.setting = {"cpu", "fp32", "fused", "784-256-256-10", 128};
  row.step_ms = summarize({0.99 * median, median, 1.01 * median});
  row.repetition_medians = {median};
  row.asked_steps = 3;
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

inline Row with_loss_difference(Row row, double difference) {
  row.loss_difference = difference;
  return row;
}

}  // namespace trainer::bench
