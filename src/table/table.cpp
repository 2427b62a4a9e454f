// SPDX-License-Identifier: Apache-2.0
#include "trainer/table/table.h"

#include <cstddef>
#include <utility>

#include "table/dataset.h"

namespace trainer::data {

double value_at(const Matrix& matrix, int64_t row, int64_t column) {
  const auto index = static_cast<size_t>(row * matrix.num_columns + column);
  return std::visit([index](const auto& values) { return static_cast<double>(values[index]); },
                    matrix.values);
}

void subtract_offsets(Matrix& matrix, std::span<const double> offsets) {
  const auto* bytes = std::get_if<Array<uint8_t>>(&matrix.values);
  if (bytes == nullptr || offsets.empty()) return;
  Array<float> numbers(bytes->size());
  for (size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = static_cast<float>((*bytes)[i] - offsets[i % offsets.size()]);
  }
  matrix.values = std::move(numbers);
}

Matrix take_rows(const Matrix& matrix, std::span<const int64_t> rows) {
  const auto width = static_cast<size_t>(matrix.num_columns);
  return {.num_rows = static_cast<int64_t>(rows.size()),
          .num_columns = matrix.num_columns,
          .values = std::visit(
              [&](const auto& values) -> decltype(Matrix::values) {
                return take_rows(values, width, rows);
              },
              matrix.values)};
}

void keep_rows(Matrix& matrix, std::span<const int64_t> rows) {
  const auto width = static_cast<size_t>(matrix.num_columns);
  std::visit([&](auto& values) { keep_rows(values, width, rows); }, matrix.values);
  matrix.num_rows = static_cast<int64_t>(rows.size());
}

}  // namespace trainer::data
