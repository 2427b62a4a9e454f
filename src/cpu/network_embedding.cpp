// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "trainer/cpu/network.h"
#include "trainer/cpu/parts.h"

namespace trainer::cpu {
namespace {

constexpr int64_t kElementsAtOnce = 1 << 14;  // of a table's gradient

}  // namespace

void Network::make_tables(const std::vector<ParameterMemory>& memory) {
  int64_t column = options_.num_plain();
  tables_.reserve(options_.embeddings.size());
  bool is_trained = false;
  for (const Embedding& shape : options_.embeddings) {
    const ParameterMemory& table = memory.at(tables_.size());
    tables_.push_back({.memory = table,
                       .shape = shape,
                       .column = column,
                       .rows = std::vector<int64_t>(static_cast<std::size_t>(max_rows_))});
    column += shape.size;
    is_trained = is_trained || table.gradient != nullptr;
  }
  if (!is_trained) return;
  embedded_stride_ = padded_stride(options_.num_embedded());
  embedded_gradient_ = Buffer(max_rows_ * embedded_stride_);
}

// The numbers of rows lie where the first of what they name is to lie, or before: so from the last
// table to the first, none is overwritten before it is read.
void Network::look_up(int64_t row, int64_t num_rows) {
  const int64_t num_plain = options_.num_plain();
  for (int64_t i = tables_.empty() ? num_rows : 0; i < num_rows; ++i) {
    float* inputs = features_.get() + (row + i) * features_stride_;
    for (std::size_t t = tables_.size(); t-- > 0;) {
      Table& table = tables_[t];
      const float number = inputs[num_plain + static_cast<int64_t>(t)];
      // Also where it is NaN.
      const bool is_row = number >= 0 && number < static_cast<float>(table.shape.num_rows);
      const int64_t found = is_row ? static_cast<int64_t>(number) : table.shape.num_rows - 1;
      table.rows[static_cast<std::size_t>(row + i)] = found;
      std::copy_n(table.memory.value + found * table.shape.size, table.shape.size,
                  inputs + table.column);
    }
  }
}

// The gradient of the first layer's input, of the columns that were looked up.
void Network::embedded_gradient(const Part& part, float* scratch) {
  const Layer& layer = layers_.front();
  kernels_.multiply({.num_rows = part.tile.num_rows,
                     .num_columns = part.tile.num_columns,
                     .depth = layer.num_outputs,
                     .a = layer.pre_gradient + part.row * layer.stride,
                     .a_row = layer.stride,
                     .a_depth = 1,
                     .b = layer.memory.weight.value + options_.num_plain() + part.column,
                     .b_depth = layer.num_inputs,
                     .b_column = 1,
                     .c = embedded_gradient_.get() + part.row * embedded_stride_ + part.column,
                     .c_row = embedded_stride_,
                     .adds = false},
                    scratch);
}

int64_t Network::num_table_parts(const Table& table) const {
  if (table.memory.gradient == nullptr) return 0;
  return num_parts(table.shape.num_rows, std::max<int64_t>(1, kElementsAtOnce / table.shape.size));
}

// Each row of a table is the work of one thread, which adds in the order of the batch.
void Network::table_gradient(const Table& table, int64_t part, int64_t num_rows, bool adds) const {
  const int64_t size = table.shape.size;
  const int64_t step = std::max<int64_t>(1, kElementsAtOnce / size);
  const int64_t begin = part * step;
  const int64_t end = std::min(begin + step, table.shape.num_rows);
  if (!adds)
    std::fill(table.memory.gradient + begin * size, table.memory.gradient + end * size, 0.0F);
  const float* gradient = embedded_gradient_.get() + table.column - options_.num_plain();
  for (int64_t i = 0; i < num_rows; ++i, gradient += embedded_stride_) {
    const int64_t row = table.rows[static_cast<std::size_t>(i)];
    if (row < begin || row >= end) continue;
    float* sum = table.memory.gradient + row * size;
    for (int64_t j = 0; j < size; ++j) sum[j] += gradient[j];
  }
}

}  // namespace trainer::cpu
