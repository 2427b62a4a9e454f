// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "trainer/nn/cpu/blocks.h"
#include "trainer/nn/cpu/buffer.h"
#include "trainer/nn/cpu/kernels.h"
#include "trainer/nn/cpu/numeric_embedding.h"
#include "trainer/nn/cpu/operands.h"
#include "trainer/nn/cpu/row_sums.h"

namespace trainer::cpu {

/// Computes the input of the first linear layer of a network: gathers the features, replaces row
/// indices by rows of embedding tables, embeds numbers, and scales all columns. Columns: numeric
/// features, rows of the tables, embeddings of numbers. With several members each row of the batch
/// becomes one row per member, multiplied by the scale of that member.
class InputEncoder {
 public:
  /// Allocates memory for batches of up to `max_rows` rows of `num_features` features; `width` is
  /// the number of inputs of the first layer.
  InputEncoder(const Blocks& blocks, int64_t num_features, int64_t width, int64_t max_rows,
               const Kernels& kernels);

  /// The input of the first layer, `[max_rows * members, width]`, with rows `stride()` floats
  /// apart.
  const float* values() const { return scaled_.get() == nullptr ? features_.get() : scaled_.get(); }
  int64_t stride() const { return stride_; }

  /// The size of all buffers for values and gradients, in floats.
  int64_t num_floats() const {
    return features_.size() + scaled_.size() + gradient_.size() + unscaled_gradient_.size();
  }

  /// Computes the values of rows [row, row + num_rows) from rows of `source`.
  void encode(const GatherSource& source, const int64_t* rows, int64_t row, int64_t num_rows);

  /// Whether any of its parameters is trained.
  bool is_trained() const { return gradient_.get() != nullptr; }
  /// The first column of the values whose gradient is needed.
  int64_t gradient_column() const { return gradient_column_; }
  /// The gradient with respect to the values, which the caller writes here: `[max_rows * members,
  /// width - gradient_column()]`, with rows `gradient_stride()` floats apart.
  float* gradient() const { return gradient_.get(); }
  int64_t gradient_stride() const { return gradient_stride_; }
  /// Multiplies the gradient by the input scale and sums it over the members. The caller calls it
  /// for each region of gradient() once it has written it; a region has all members of its rows.
  void unscale_gradient(const Region& region);

  /// The number of tasks that compute the gradients of the parameters. Any thread may run any task,
  /// in any order.
  int64_t num_tasks() const { return num_table_tasks_ + num_numeric_tasks() + num_scale_tasks(); }
  /// Computes the gradients of one task. `tree` is scratch memory for sums over a tree of shards
  /// (nn/cpu/shard_sums.h).
  void run_task(int64_t task, const RowSums& sums, float* tree) const;

 private:
  /// An embedding table and the rows of it that the batch looks up.
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
  int64_t num_numeric_;  // number of features that are not row indices of a table
  int64_t width_;
  int64_t stride_;
  int64_t num_members_;
  Buffer features_;  // the values before they are scaled
  Buffer scaled_;    // empty without an input scale
  std::vector<Lookup> lookups_;
  std::optional<NumericEmbedding> numeric_;
  int64_t embedded_column_ = 0;
  TensorMemory scale_;
  Buffer gradient_;
  int64_t gradient_column_ = 0;
  int64_t gradient_stride_ = 0;
  /// The gradient with respect to the values before they are scaled, `[max_rows, width -
  /// unscaled_column]`. Empty without an input scale: then `gradient_` is that gradient.
  Buffer unscaled_gradient_;
  int64_t unscaled_column_ = 0;  // first column that depends on a trained table or embedding
  int64_t unscaled_stride_ = 0;
  int64_t num_table_tasks_ = 0;
};

}  // namespace trainer::cpu
