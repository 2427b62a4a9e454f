// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "trainer/base/memory/array.h"
#include "trainer/table/dataset.h"

namespace trainer::data {

/// How many rows of `dataset` share a checksum: about 64 KiB of its features.
int64_t rows_per_checksum(const Dataset& dataset);

/// The CRC-32 of each block of that many rows, over all arrays of `dataset`.
std::vector<uint32_t> row_checksums(const Dataset& dataset, int64_t rows_per_block);

/// Compares rows that are mapped from a file with their checksums, and their classes with those
/// that there are, each block when one of its rows is used for the first time: a start does not
/// read them all. Threads may use it together.
class RowChecks {
 public:
  /// `dataset` may be moved later, its arrays may not change. `source` begins the message.
  RowChecks(const Dataset& dataset, int64_t num_classes, int64_t rows_per_block,
            std::vector<uint32_t> expected, std::string source);

  /// Throws Error(kData) if one of `rows`, or another row of its block, is not what was written or
  /// has a class that there is not.
  void require(std::span<const int64_t> rows);
  /// The same for the rows [begin, end).
  void require(int64_t begin, int64_t end);

  /// From now on rows are read where read_ahead() has read their blocks, and hardly anywhere else.
  void expect_read_ahead();
  /// The same as require() for the blocks of `rows`, which are read from the disk in their order,
  /// so that they are in memory when they are used.
  void read_ahead(std::span<const int64_t> rows);
  /// Lets the system drop the blocks of `rows` before all others.
  void forget(std::span<const int64_t> rows);

 private:
  void require_block(size_t block);
  void require_classes(int64_t begin, int64_t end) const;
  std::vector<bool> blocks_of(std::span<const int64_t> rows) const;
  void advise_blocks(const std::vector<bool>& blocks, Access access) const;

  std::vector<std::span<const std::byte>> arrays_;  // [num_rows] elements each
  std::span<const int64_t> classes_;                // of all rows, or empty
  int64_t num_classes_;
  int64_t num_rows_;
  int64_t rows_per_block_;
  std::vector<uint32_t> expected_;
  std::string source_;
  std::unique_ptr<std::atomic<bool>[]> is_known_;  // of each block
  std::atomic<int64_t> num_unknown_;
};

/// Throws Error(kData) if `dataset` has checksums that any of its rows does not have. For those who
/// use all of them.
void require_intact(const Dataset& dataset);

}  // namespace trainer::data
