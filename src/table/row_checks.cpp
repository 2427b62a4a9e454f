// SPDX-License-Identifier: Apache-2.0
#include "trainer/table/row_checks.h"

#include <algorithm>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "trainer/base/error.h"
#include "trainer/base/io/checksum.h"
#include "trainer/base/memory/array.h"
#include "trainer/base/text/format.h"

namespace trainer::data {
namespace {

using Bytes = std::span<const std::byte>;

// Those that are empty have no rows to check.
std::vector<Bytes> arrays_of(const Dataset& dataset) {
  std::vector<Bytes> arrays;
  const auto add = [&](const auto& array) {
    if (!array.empty()) arrays.push_back(std::as_bytes(std::span(array.data(), array.size())));
  };
  std::visit(add, dataset.features.values);
  add(dataset.classes);
  add(dataset.values);
  add(dataset.source_lines);
  add(dataset.weights);
  add(dataset.targets);
  return arrays;
}

// Those of the rows [begin, end).
Bytes bytes_of_rows(Bytes array, int64_t num_rows, int64_t begin, int64_t end) {
  const size_t size = array.size() / static_cast<size_t>(num_rows);
  return array.subspan(static_cast<size_t>(begin) * size, static_cast<size_t>(end - begin) * size);
}

uint32_t checksum(const std::vector<Bytes>& arrays, int64_t num_rows, int64_t begin, int64_t end) {
  uint32_t crc = 0;
  for (const Bytes array : arrays) crc = crc32(bytes_of_rows(array, num_rows, begin, end), crc);
  return crc;
}

}  // namespace

int64_t rows_per_checksum(const Dataset& dataset) {
  constexpr int64_t kBlockBytes = 65536;
  return std::max<int64_t>(1, kBlockBytes / std::max<int64_t>(1, row_bytes(dataset.features)));
}

std::vector<uint32_t> row_checksums(const Dataset& dataset, int64_t rows_per_block) {
  const std::vector<Bytes> arrays = arrays_of(dataset);
  std::vector<uint32_t> checksums;
  for (int64_t begin = 0; begin < dataset.size(); begin += rows_per_block) {
    const int64_t end = std::min(dataset.size(), begin + rows_per_block);
    checksums.push_back(checksum(arrays, dataset.size(), begin, end));
  }
  return checksums;
}

RowChecks::RowChecks(const Dataset& dataset, int64_t num_classes, int64_t rows_per_block,
                     std::vector<uint32_t> expected, std::string source)
    : arrays_(arrays_of(dataset)),
      classes_(dataset.classes),
      num_classes_(num_classes),
      num_rows_(dataset.size()),
      rows_per_block_(rows_per_block),
      expected_(std::move(expected)),
      source_(std::move(source)),
      // NOLINTNEXTLINE(modernize-avoid-c-arrays): a vector would have to move atomics
      is_known_(std::make_unique<std::atomic<bool>[]>(expected_.size())),
      num_unknown_(std::ssize(expected_)) {}

void RowChecks::require(std::span<const int64_t> rows) {
  for (const int64_t row : rows) {
    if (num_unknown_.load(std::memory_order_relaxed) == 0) return;
    require_block(static_cast<size_t>(row / rows_per_block_));
  }
}

void RowChecks::require(int64_t begin, int64_t end) {
  if (num_unknown_.load(std::memory_order_relaxed) == 0 || begin == end) return;
  const auto last = static_cast<size_t>((end - 1) / rows_per_block_);
  for (auto block = static_cast<size_t>(begin / rows_per_block_); block <= last; ++block) {
    require_block(block);
  }
}

void RowChecks::expect_read_ahead() {
  for (const Bytes array : arrays_) advise(array, Access::kRandom);
}

void RowChecks::read_ahead(std::span<const int64_t> rows) {
  const std::vector<bool> blocks = blocks_of(rows);
  advise_blocks(blocks, Access::kSoon);
  if (num_unknown_.load(std::memory_order_relaxed) == 0) return;
  for (size_t block = 0; block < blocks.size(); ++block) {
    if (blocks[block]) require_block(block);
  }
}

void RowChecks::forget(std::span<const int64_t> rows) {
  advise_blocks(blocks_of(rows), Access::kLate);
}

std::vector<bool> RowChecks::blocks_of(std::span<const int64_t> rows) const {
  std::vector<bool> blocks(expected_.size());
  for (const int64_t row : rows) blocks[static_cast<size_t>(row / rows_per_block_)] = true;
  return blocks;
}

// Those that follow each other in one go.
void RowChecks::advise_blocks(const std::vector<bool>& blocks, Access access) const {
  for (size_t begin = 0; begin < blocks.size(); ++begin) {
    if (!blocks[begin]) continue;
    size_t end = begin;
    while (end < blocks.size() && blocks[end]) ++end;
    const int64_t first_row = static_cast<int64_t>(begin) * rows_per_block_;
    const int64_t end_row = std::min(num_rows_, static_cast<int64_t>(end) * rows_per_block_);
    for (const Bytes array : arrays_) {
      advise(bytes_of_rows(array, num_rows_, first_row, end_row), access);
    }
    begin = end;
  }
}

void RowChecks::require_block(size_t block) {
  if (is_known_[block].load(std::memory_order_relaxed)) return;
  const int64_t begin = static_cast<int64_t>(block) * rows_per_block_;
  const int64_t end = std::min(num_rows_, begin + rows_per_block_);
  const uint32_t crc = checksum(arrays_, num_rows_, begin, end);
  if (crc != expected_[block]) {
    throw Error(ErrorKind::kData,
                fmt::format("{}: rows {} to {} are damaged: their CRC-32 is {:#010x}, expected "
                            "{:#010x}; remove this folder and start again",
                            source_, with_thousands(begin + 1), with_thousands(end), crc,
                            expected_[block]));
  }
  require_classes(begin, end);
  // Two threads may find the same, and one of them counts it.
  if (!is_known_[block].exchange(true)) --num_unknown_;
}

// Checksums tell damage from what was written, not what was written from what fits: the loss reads
// an element of the outputs for each class.
void RowChecks::require_classes(int64_t begin, int64_t end) const {
  if (classes_.empty()) return;
  for (int64_t row = begin; row < end; ++row) {
    const int64_t index = classes_[static_cast<size_t>(row)];
    if (index >= 0 && index < num_classes_) continue;
    throw Error(
        ErrorKind::kData,
        fmt::format("{}: row {} has class {}, expected 0 to {}; remove this folder and start "
                    "again",
                    source_, with_thousands(row + 1), index, num_classes_ - 1));
  }
}

void require_intact(const Dataset& dataset) {
  if (dataset.checks) dataset.checks->require(0, dataset.size());
}

}  // namespace trainer::data
