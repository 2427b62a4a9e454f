// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "trainer/cpu/blocks.h"
#include "trainer/cpu/buffer.h"
#include "trainer/cpu/kernels.h"
#include "trainer/cpu/numeric_embedding.h"
#include "trainer/cpu/operands.h"
#include "trainer/cpu/row_sums.h"
#include "trainer/cpu/tile_grid.h"

namespace trainer::cpu {

/// What comes before the first linear layer of a network: features are gathered, row indices are
/// replaced by rows of embedding tables, numbers are embedded, and all of it is scaled. Columns:
/// numeric features, rows of the tables, embeddings of numbers. With several members each row
/// becomes a row for each of them, which their scales make of it.
class InputEncoder {
 public:
  /// For up to `max_rows` rows of `num_features` features; `width` is that of the first layer.
  InputEncoder(const Blocks& blocks, int64_t num_features, int64_t width, int64_t max_rows,
               const Kernels& kernels);

  /// `[max_rows * members, width]` with `stride`: the input of the first layer.
  const float* values() const { return scaled_.get() == nullptr ? features_.get() : scaled_.get(); }
  int64_t stride() const { return stride_; }

  /// The floats of its values and their gradients.
  int64_t num_floats() const {
    return features_.size() + scaled_.size() + gradient_.size() + unscaled_gradient_.size();
  }

  /// Computes the values of rows [row, row + num_rows) from rows of `source`.
  void encode(const GatherSource& source, const int64_t* rows, int64_t row, int64_t num_rows);

  /// Whether it has parameters that are trained.
  bool is_trained() const { return gradient_.get() != nullptr; }
  /// The first column whose gradient is needed.
  int64_t gradient_column() const { return gradient_column_; }
  /// `[max_rows * members, width - gradient_column]` with `gradient_stride`: the gradient with
  /// respect to the values, which the caller computes.
  float* gradient() const { return gradient_.get(); }
  int64_t gradient_stride() const { return gradient_stride_; }
  /// To be called when it is known for a region: whole rows of the batch.
  void unscale_gradient(const Region& region);

  /// The gradients of the parameters are so many tasks, which any threads may run in any order.
  int64_t num_tasks() const { return num_table_tasks_ + num_numeric_tasks() + num_scale_tasks(); }
  /// Computes the gradients of one task; `tree` is memory for trees of shards.
  void run_task(int64_t task, const RowSums& sums, float* tree) const;

 private:
  /// An embedding table and the rows that a batch takes of it.
  struct Lookup {
    Table table;
    int64_t column = 0;
    std::vector<int64_t> rows;  // [max_rows]
  };

  void make_lookups(const std::vector<Table>& tables, int64_t max_rows);
  void look_up(int64_t row, int64_t num_rows);
  int64_t num_table_tasks(const Lookup& lookup) const;
  int64_t num_numeric_tasks() const;
  int64_t num_scale_tasks() const;
  void table_gradient(const Lookup& lookup, int64_t chunk, const RowSums& sums, float* tree) const;
  void numeric_gradient(int64_t index, const RowSums& sums, float* tree) const;
  void scale_gradient(int64_t task, const RowSums& sums, float* tree) const;
  const float* unscaled_gradient(int64_t column) const;

  const Kernels& kernels_;
  int64_t num_features_;
  int64_t num_numeric_;  // features that are not indices of a table
  int64_t width_;
  int64_t stride_;
  int64_t num_members_;
  Buffer features_;  // not scaled
  Buffer scaled_;    // with an input scale only
  std::vector<Lookup> lookups_;
  std::optional<NumericEmbedding> numeric_;
  int64_t embedded_column_ = 0;
  TensorMemory scale_;
  Buffer gradient_;
  int64_t gradient_column_ = 0;
  int64_t gradient_stride_ = 0;
  /// `[max_rows, width - unscaled_column]`: the gradient of what is not scaled. Without a scale it
  /// is the other one.
  Buffer unscaled_gradient_;
  int64_t unscaled_column_ = 0;  // the first trained one
  int64_t unscaled_stride_ = 0;
  int64_t num_table_tasks_ = 0;
};

}  // namespace trainer::cpu
