// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "trainer/distributed/world.h"
#include "trainer/train/evaluate.h"

namespace trainer::train {

/// Outputs and losses of data that the processes evaluate together; each process computes some
/// rows.
class EvaluatedRows {
 public:
  EvaluatedRows(int64_t num_rows, int64_t num_outputs, const dist::World& world);

  /// The rows of this process are [begin(), end()).
  int64_t begin() const { return begin_of(world_.rank()); }
  int64_t end() const { return begin_of(world_.rank() + 1); }

  /// The memory for the outputs of a row, `[num_outputs]`.
  float* outputs_of(int64_t row) { return outputs_.data() + row * num_outputs_; }
  void set(int64_t row, float loss, int32_t is_correct);

  /// Exchanges the results, so that all processes return those of all rows. The losses are added in
  /// the order of the rows.
  Evaluation gather();

 private:
  int64_t begin_of(int64_t rank) const { return num_rows_ * rank / world_.size(); }
  template <class Value>
  void gather(std::vector<Value>& values, int64_t width) const;

  int64_t num_rows_;
  int64_t num_outputs_;
  const dist::World& world_;
  std::vector<float> outputs_;
  std::vector<float> losses_;
  std::vector<uint8_t> correct_;
};

}  // namespace trainer::train
