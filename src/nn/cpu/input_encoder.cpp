// SPDX-License-Identifier: Apache-2.0
#include "trainer/nn/cpu/input_encoder.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "trainer/nn/cpu/buffer.h"

#include "nn/cpu/shard_sums.h"

namespace trainer::cpu {
namespace {

constexpr int64_t kElementsPerTask = 1 << 14;  // elements of the gradient of an embedding table
constexpr int64_t kColumnsPerTask = 64;        // columns of the gradient of the input scale

int64_t rows_per_task(const Table& table) {
  return std::max<int64_t>(1, kElementsPerTask / table.size);
}

}  // namespace

InputEncoder::InputEncoder(const Blocks& blocks, int64_t num_features, int64_t width,
                           int64_t max_rows, const Kernels& kernels)
    : kernels_(kernels),
      num_features_(num_features),
      num_numeric_(num_features - std::ssize(blocks.tables)),
      width_(width),
      stride_(padded_stride(width)),
      num_members_(blocks.num_members),
      features_(max_rows * stride_),
      numeric_(blocks.numeric),
      scale_(blocks.input_scale) {
  make_lookups(blocks.tables, max_rows);
  if (scale_.value != nullptr) scaled_ = Buffer(max_rows * num_members_ * stride_);
  const bool trains_tables =
      std::any_of(lookups_.begin(), lookups_.end(),
                  [](const Lookup& lookup) { return lookup.table.weight.update != nullptr; });
  const bool trains_numeric = numeric_ && numeric_->is_trained();
  const bool trains_scale = scale_.update != nullptr;
  const bool trains_features = trains_tables || trains_numeric;
  if (!trains_scale && !trains_features) return;
  unscaled_column_ = trains_tables ? num_numeric_ : trains_numeric ? embedded_column_ : width_;
  gradient_column_ = trains_scale ? 0 : unscaled_column_;
  gradient_stride_ = padded_stride(width_ - gradient_column_);
  gradient_ = Buffer(max_rows * num_members_ * gradient_stride_);
  unscaled_stride_ = padded_stride(width_ - unscaled_column_);
  if (scale_.value != nullptr && trains_features) {
    unscaled_gradient_ = Buffer(max_rows * unscaled_stride_);
  }
  for (const Lookup& lookup : lookups_) num_table_tasks_ += num_table_tasks(lookup);
}

void InputEncoder::make_lookups(const std::vector<Table>& tables, int64_t max_rows) {
  embedded_column_ = num_numeric_;
  for (const Table& table : tables) {
    lookups_.push_back({.table = table,
                        .column = embedded_column_,
                        .rows = std::vector<int64_t>(static_cast<std::size_t>(max_rows))});
    embedded_column_ += table.size;
  }
}

void InputEncoder::encode(const GatherSource& source, const int64_t* rows, int64_t row,
                          int64_t num_rows) {
  kernels_.gather(source, rows + row,
                  {.num_rows = num_rows, .num_columns = num_features_, .stride = stride_},
                  features_.get() + row * stride_);
  look_up(row, num_rows);
  const InputRows inputs{
      .values = features_.get() + row * stride_, .stride = stride_, .num_rows = num_rows};
  for (int64_t i = 0; numeric_ && i < numeric_->num_features(); ++i) {
    embed(kernels_, *numeric_, i, inputs,
          features_.get() + row * stride_ + embedded_column_ + i * numeric_->size);
  }
  if (scale_.value == nullptr) return;
  float* to = scaled_.get() + row * num_members_ * stride_;
  for (int64_t i = row; i < row + num_rows; ++i) {
    const float* from = features_.get() + i * stride_;
    for (int64_t m = 0; m < num_members_; ++m, to += stride_) {
      const float* scale = scale_.value + m * width_;
      for (int64_t j = 0; j < width_; ++j) to[j] = from[j] * scale[j];
    }
  }
}

void InputEncoder::unscale_gradient(const Region& region) {
  if (unscaled_gradient_.get() == nullptr) return;
  const int64_t begin = std::max(gradient_column_ + region.column, unscaled_column_);
  const int64_t end = gradient_column_ + region.column + region.tile.num_columns;
  const int64_t row = region.row / num_members_;
  const float* from = gradient_.get() + region.row * gradient_stride_ - gradient_column_;
  for (int64_t i = row; i < row + region.tile.num_rows / num_members_; ++i) {
    float* to = unscaled_gradient_.get() + i * unscaled_stride_ - unscaled_column_;
    for (int64_t m = 0; m < num_members_; ++m, from += gradient_stride_) {
      const float* scale = scale_.value + m * width_;
      if (m == 0) {
        for (int64_t j = begin; j < end; ++j) to[j] = from[j] * scale[j];
      } else {
        for (int64_t j = begin; j < end; ++j) to[j] += from[j] * scale[j];
      }
    }
  }
}

const float* InputEncoder::unscaled_gradient(int64_t column) const {
  const Buffer& gradient = scale_.value == nullptr ? gradient_ : unscaled_gradient_;
  return gradient.get() + column - unscaled_column_;
}

// The row index of each table is stored at or before the columns of its embedding. The loop goes
// from the last table to the first, so that no index is overwritten before it is read.
void InputEncoder::look_up(int64_t row, int64_t num_rows) {
  for (int64_t i = lookups_.empty() ? num_rows : 0; i < num_rows; ++i) {
    float* inputs = features_.get() + (row + i) * stride_;
    for (std::size_t t = lookups_.size(); t-- > 0;) {
      Lookup& lookup = lookups_[t];
      const Table& table = lookup.table;
      const float index = inputs[num_numeric_ + static_cast<int64_t>(t)];
      // The comparisons are false for NaN, so that it counts as an unknown category: the last row.
      const bool is_row = index >= 0 && index < static_cast<float>(table.num_rows);
      const int64_t found = is_row ? static_cast<int64_t>(index) : table.num_rows - 1;
      lookup.rows[static_cast<std::size_t>(row + i)] = found;
      std::copy_n(table.weight.value + found * table.size, table.size, inputs + lookup.column);
    }
  }
}

int64_t InputEncoder::num_table_tasks(const Lookup& lookup) const {
  const Table& table = lookup.table;
  return table.weight.update == nullptr ? 0 : ceil_div(table.num_rows, rows_per_task(table));
}

int64_t InputEncoder::num_numeric_tasks() const {
  return numeric_ && numeric_->is_trained() ? numeric_->num_features() : 0;
}

int64_t InputEncoder::num_scale_tasks() const {
  return scale_.update == nullptr ? 0 : num_members_ * ceil_div(width_, kColumnsPerTask);
}

void InputEncoder::run_task(int64_t task, const RowSums& sums, float* tree) const {
  for (const Lookup& lookup : lookups_) {
    if (task < num_table_tasks(lookup)) return table_gradient(lookup, task, sums, tree);
    task -= num_table_tasks(lookup);
  }
  if (task < num_numeric_tasks()) return numeric_gradient(task, sums, tree);
  task -= num_numeric_tasks();
  scale_gradient(task, sums, tree);
}

// Gradient and features are multiplied column by column: if the scale is trained, both matrices
// begin at column 0.
void InputEncoder::scale_gradient(int64_t task, const RowSums& sums, float* tree) const {
  const int64_t member = task / ceil_div(width_, kColumnsPerTask);
  const int64_t column = task % ceil_div(width_, kColumnsPerTask) * kColumnsPerTask;
  const int64_t num_columns = std::min(kColumnsPerTask, width_ - column);
  float* to = scale_.update + member * width_ + column;
  sum_gradients(sums, std::array{FloatRange{to, num_columns}}, tree,
                [&](int64_t shard, std::ptrdiff_t offset, Accumulate accumulate) {
                  const int64_t row = sums.border(shard);
                  kernels_.column_sums(
                      {.num_rows = sums.border(shard + 1) - row,
                       .num_columns = num_columns,
                       .stride = num_members_ * gradient_stride_},
                      gradient_.get() + (row * num_members_ + member) * gradient_stride_ + column,
                      features_.get() + row * stride_ + column, stride_, to + offset, accumulate);
                });
}

// Each row of a table belongs to one task, which sums its gradient in the order of the batch.
void InputEncoder::table_gradient(const Lookup& lookup, int64_t chunk, const RowSums& sums,
                                  float* tree) const {
  const Table& table = lookup.table;
  const int64_t size = table.size;
  const int64_t begin = chunk * rows_per_task(table);
  const int64_t end = std::min(begin + rows_per_task(table), table.num_rows);
  const int64_t num_floats = (end - begin) * size;
  const auto sum_shard = [&](int64_t shard, std::ptrdiff_t offset, Accumulate accumulate) {
    float* to = table.weight.update + offset;
    if (accumulate == Accumulate::kNo) std::fill_n(to + begin * size, num_floats, 0.0F);
    for (int64_t i = sums.border(shard); i < sums.border(shard + 1); ++i) {
      const int64_t row = lookup.rows[static_cast<std::size_t>(i)];
      if (row < begin || row >= end) continue;
      add_floats(unscaled_gradient(lookup.column) + i * unscaled_stride_, size, to + row * size);
    }
  };
  sum_gradients(sums, std::array{FloatRange{table.weight.update + begin * size, num_floats}}, tree,
                sum_shard);
}

void InputEncoder::numeric_gradient(int64_t index, const RowSums& sums, float* tree) const {
  const float* gradient = unscaled_gradient(embedded_column_ + index * numeric_->size);
  const auto sum_shard = [&](int64_t shard, std::ptrdiff_t offset, Accumulate accumulate) {
    const int64_t row = sums.border(shard);
    embedding_gradient(kernels_, *numeric_, index,
                       {.values = features_.get() + row * stride_,
                        .stride = stride_,
                        .num_rows = sums.border(shard + 1) - row},
                       {.values = gradient + row * unscaled_stride_,
                        .stride = unscaled_stride_,
                        .offset = offset,
                        .accumulate = accumulate});
  };
  sum_gradients(sums, gradient_memory(*numeric_, index), tree, sum_shard);
}

}  // namespace trainer::cpu
