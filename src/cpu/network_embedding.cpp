// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "trainer/cpu/network.h"
#include "trainer/cpu/parts.h"

namespace trainer::cpu {
namespace {

constexpr int64_t kElementsAtOnce = 1 << 14;  // of a table's gradient

}  // namespace

void Network::make_lookups(const std::vector<Table>& tables) {
  bool is_trained = false;
  for (const Table& table : tables) {
    lookups_.push_back({.table = table,
                        .column = num_numeric_ + num_embedded_,
                        .rows = std::vector<int64_t>(static_cast<std::size_t>(max_rows_))});
    num_embedded_ += table.size;
    is_trained = is_trained || table.weight.update != nullptr;
  }
  if (!is_trained) return;
  embedded_stride_ = padded_stride(num_embedded_);
  embedded_gradient_ = Buffer(max_rows_ * embedded_stride_);
}

// The numbers of rows lie where the first of what they name is to lie, or before: so from the last
// table to the first, none is overwritten before it is read.
void Network::look_up(int64_t row, int64_t num_rows) {
  for (int64_t i = lookups_.empty() ? num_rows : 0; i < num_rows; ++i) {
    float* inputs = features_.get() + (row + i) * features_stride_;
    for (std::size_t t = lookups_.size(); t-- > 0;) {
      Lookup& lookup = lookups_[t];
      const Table& table = lookup.table;
      const float number = inputs[num_numeric_ + static_cast<int64_t>(t)];
      // Also where it is NaN.
      const bool is_row = number >= 0 && number < static_cast<float>(table.num_rows);
      const int64_t found = is_row ? static_cast<int64_t>(number) : table.num_rows - 1;
      lookup.rows[static_cast<std::size_t>(row + i)] = found;
      std::copy_n(table.weight.value + found * table.size, table.size, inputs + lookup.column);
    }
  }
}

// The gradient of the first layer's input, of the columns that were looked up.
void Network::embedded_gradient(const Part& part, float* scratch) {
  const Layer& layer = layers_.front();
  kernels_.multiply({.num_rows = part.tile.num_rows,
                     .num_columns = part.tile.num_columns,
                     .depth = layer.block.num_outputs,
                     .a = layer.pre_gradient + part.row * layer.stride,
                     .a_row = layer.stride,
                     .a_depth = 1,
                     .b = layer.block.weight.value + num_numeric_ + part.column,
                     .b_depth = layer.block.num_inputs,
                     .b_column = 1,
                     .c = embedded_gradient_.get() + part.row * embedded_stride_ + part.column,
                     .c_row = embedded_stride_,
                     .adds = false},
                    scratch);
}

int64_t Network::num_table_parts(const Lookup& lookup) const {
  const Table& table = lookup.table;
  if (table.weight.update == nullptr) return 0;
  return num_parts(table.num_rows, std::max<int64_t>(1, kElementsAtOnce / table.size));
}

// Each row of a table is the work of one thread, which adds in the order of the batch.
void Network::table_gradient(const Lookup& lookup, int64_t part, int64_t num_rows,
                             bool adds) const {
  const Table& table = lookup.table;
  const int64_t size = table.size;
  const int64_t step = std::max<int64_t>(1, kElementsAtOnce / size);
  const int64_t begin = part * step;
  const int64_t end = std::min(begin + step, table.num_rows);
  float* sums = table.weight.update;
  if (!adds) std::fill(sums + begin * size, sums + end * size, 0.0F);
  const float* gradient = embedded_gradient_.get() + lookup.column - num_numeric_;
  for (int64_t i = 0; i < num_rows; ++i, gradient += embedded_stride_) {
    const int64_t row = lookup.rows[static_cast<std::size_t>(i)];
    if (row < begin || row >= end) continue;
    float* sum = sums + row * size;
    for (int64_t j = 0; j < size; ++j) sum[j] += gradient[j];
  }
}

}  // namespace trainer::cpu
