// SPDX-License-Identifier: Apache-2.0
#include "train/evaluated_rows.h"

#include <cstddef>
#include <span>
#include <utility>

namespace trainer::train {

EvaluatedRows::EvaluatedRows(int64_t num_rows, int64_t num_outputs, const dist::World& world)
    : num_rows_(num_rows),
      num_outputs_(num_outputs),
      world_(world),
      outputs_(static_cast<std::size_t>(num_rows * num_outputs)),
      losses_(static_cast<std::size_t>(num_rows)),
      correct_(losses_.size()) {}

void EvaluatedRows::set(int64_t row, float loss, int32_t is_correct) {
  losses_[static_cast<std::size_t>(row)] = loss;
  correct_[static_cast<std::size_t>(row)] = is_correct != 0 ? 1 : 0;
}

template <class Value>
void EvaluatedRows::gather(std::vector<Value>& values, int64_t width) const {
  std::vector<std::size_t> begins;
  for (int64_t r = 0; r <= world_.size(); ++r) {
    begins.push_back(static_cast<std::size_t>(begin_of(r) * width) * sizeof(Value));
  }
  world_.gather_parts(std::as_writable_bytes(std::span(values)), begins);
}

Evaluation EvaluatedRows::gather() {
  gather(outputs_, num_outputs_);
  gather(losses_, 1);
  gather(correct_, 1);
  Evaluation result;
  double loss = 0;
  for (std::size_t i = 0; i < losses_.size(); ++i) {
    loss += static_cast<double>(losses_[i]);
    result.num_correct += correct_[i];
  }
  result.num_samples = num_rows_;
  result.loss = loss / static_cast<double>(num_rows_);
  result.outputs = std::move(outputs_);
  return result;
}

}  // namespace trainer::train
