// SPDX-License-Identifier: Apache-2.0
// Rows that are far apart in a file cost a page each when they are read from a disk, and memory
// cannot keep the pages of a table that is larger. So an epoch goes through windows that memory
// does hold. A window is made of blocks from all over the file, large enough to be read in one go
// and many enough to be a fair sample of it, and within it every order of rows is equally likely.
#include "trainer/table/split/order.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

#include "trainer/base/philox.h"
#include "trainer/table/table.h"

namespace trainer::data {
namespace {

constexpr int64_t kWindowBytes = int64_t{512} << 20;
constexpr int64_t kMaxWindow = int64_t{1} << 21;  // whose order takes 16 MiB
constexpr int64_t kBlockBytes = 256 << 10;
constexpr int64_t kMinBlocks = 64;  // of a window

void shuffle_rows(std::vector<int64_t>& rows, uint64_t seed, StreamId stream, uint64_t index) {
  PhiloxStream random(seed, stream, index);
  shuffle(rows, random);
}

std::vector<int64_t> count_to(int64_t size) {
  std::vector<int64_t> numbers(static_cast<size_t>(size));
  std::iota(numbers.begin(), numbers.end(), int64_t{0});
  return numbers;
}

}  // namespace

OrderOptions order_options(const Matrix& features, int64_t window, uint64_t seed) {
  const int64_t bytes = std::max<int64_t>(1, row_bytes(features));
  OrderOptions options{.num_rows = features.num_rows, .seed = seed};
  options.window = window > 0 ? window : std::clamp<int64_t>(kWindowBytes / bytes, 1, kMaxWindow);
  options.block = std::max<int64_t>(1, std::min(kBlockBytes / bytes, options.window / kMinBlocks));
  return options;
}

OrderPart order_part(const OrderOptions& options, int64_t epoch, int64_t position) {
  const auto epoch_index = static_cast<uint64_t>(epoch);
  if (!options.has_windows()) {
    OrderPart all{.rows = count_to(options.num_rows)};
    shuffle_rows(all.rows, options.seed, StreamId::kOrder, epoch_index);
    return all;
  }
  const auto block_begin = [&](int64_t block) { return block * options.block; };
  const auto block_end = [&](int64_t block) {
    return std::min(options.num_rows, (block + 1) * options.block);
  };
  std::vector<int64_t> blocks = count_to((options.num_rows + options.block - 1) / options.block);
  shuffle_rows(blocks, options.seed, StreamId::kBlockOrder, epoch_index);
  const auto num_in_window = static_cast<size_t>(options.window / options.block);
  OrderPart part;
  for (size_t first = 0;; first += num_in_window) {
    const size_t last = std::min(blocks.size(), first + num_in_window);
    int64_t num_rows = 0;
    for (size_t i = first; i < last; ++i) num_rows += block_end(blocks[i]) - block_begin(blocks[i]);
    if (position >= part.begin + num_rows && last < blocks.size()) {
      part.begin += num_rows;
      continue;
    }
    part.rows.reserve(static_cast<size_t>(num_rows));
    for (size_t i = first; i < last; ++i) {
      for (int64_t row = block_begin(blocks[i]); row < block_end(blocks[i]); ++row) {
        part.rows.push_back(row);
      }
    }
    shuffle_rows(part.rows, options.seed, StreamId::kWindowOrder,
                 epoch_index << 32U | first / num_in_window);
    return part;
  }
}

}  // namespace trainer::data
