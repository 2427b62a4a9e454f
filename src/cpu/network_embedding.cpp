// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "trainer/cpu/ceil_div.h"
#include "trainer/cpu/network.h"

namespace trainer::cpu {
namespace {

constexpr int64_t kElementsPerChunk = 1 << 14;  // of the gradient of an embedding table

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

// The row indices are stored where the first embedding goes, or before it. From the last table to
// the first, no index is overwritten before it is read.
void Network::look_up(int64_t row, int64_t num_rows) {
  for (int64_t i = lookups_.empty() ? num_rows : 0; i < num_rows; ++i) {
    float* inputs = features_.get() + (row + i) * features_stride_;
    for (std::size_t t = lookups_.size(); t-- > 0;) {
      Lookup& lookup = lookups_[t];
      const Table& table = lookup.table;
      const float index = inputs[num_numeric_ + static_cast<int64_t>(t)];
      // NaN is no row either.
      const bool is_row = index >= 0 && index < static_cast<float>(table.num_rows);
      const int64_t found = is_row ? static_cast<int64_t>(index) : table.num_rows - 1;
      lookup.rows[static_cast<std::size_t>(row + i)] = found;
      std::copy_n(table.weight.value + found * table.size, table.size, inputs + lookup.column);
    }
  }
}

// The gradient of the embedded columns of the first layer's input.
void Network::embedded_gradient(const Region& region, float* scratch) {
  const Layer& layer = layers_.front();
  kernels_.multiply({.num_rows = region.tile.num_rows,
                     .num_columns = region.tile.num_columns,
                     .depth = layer.block.num_outputs,
                     .a = layer.pre_gradient + region.row * layer.stride,
                     .a_row = layer.stride,
                     .a_depth = 1,
                     .b = layer.block.weight.value + num_numeric_ + region.column,
                     .b_depth = layer.block.num_inputs,
                     .b_column = 1,
                     .c = embedded_gradient_.get() + region.row * embedded_stride_ + region.column,
                     .c_row = embedded_stride_,
                     .accumulate = Accumulate::kNo},
                    scratch);
}

int64_t Network::num_table_chunks(const Lookup& lookup) const {
  const Table& table = lookup.table;
  if (table.weight.update == nullptr) return 0;
  return ceil_div(table.num_rows, std::max<int64_t>(1, kElementsPerChunk / table.size));
}

// Each row of a table belongs to one thread, which sums in the order of the batch.
void Network::table_gradient(const Lookup& lookup, int64_t chunk, int64_t num_rows,
                             Accumulate accumulate) const {
  const Table& table = lookup.table;
  const int64_t size = table.size;
  const int64_t step = std::max<int64_t>(1, kElementsPerChunk / size);
  const int64_t begin = chunk * step;
  const int64_t end = std::min(begin + step, table.num_rows);
  float* sums = table.weight.update;
  if (accumulate == Accumulate::kNo) {
    std::fill(sums + begin * size, sums + end * size, 0.0F);
  }
  const float* gradient = embedded_gradient_.get() + lookup.column - num_numeric_;
  for (int64_t i = 0; i < num_rows; ++i, gradient += embedded_stride_) {
    const int64_t row = lookup.rows[static_cast<std::size_t>(i)];
    if (row < begin || row >= end) continue;
    float* sum = sums + row * size;
    for (int64_t j = 0; j < size; ++j) sum[j] += gradient[j];
  }
}

}  // namespace trainer::cpu
