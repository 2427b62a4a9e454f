// SPDX-License-Identifier: Apache-2.0
// The algorithm of reduction.cpp, with one all-to-all for each round: a rank receives its segment
// of all subtrees, adds them, and sends the sum to all. No data leaves the devices.
#include "trainer/distributed/device_reduction.h"

#include <numeric>

#include <ATen/ops/add.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>

#include "trainer/base/parallel/shard_tree.h"

namespace trainer::dist {
namespace {

at::Tensor sum_of(const Division& division, const std::vector<at::Tensor>& values,
                  const ShardRange& range) {
  if (const auto leaf = find_subtree(division.all_subtrees(), range)) return values[*leaf];
  const int64_t middle = middle_of(range);
  return at::add(sum_of(division, values, {range.begin, middle}),
                 sum_of(division, values, {middle, range.end}));
}

}  // namespace

void sum_on_device(const Division& division, const AllToAll& all_to_all,
                   const std::vector<at::Tensor>& mine, at::Tensor out) {
  const int64_t num_ranks = division.num_ranks();
  const int64_t size = out.numel();
  std::vector<int64_t> segment_sizes;
  segment_sizes.reserve(static_cast<std::size_t>(num_ranks));
  for (int64_t r = 0; r < num_ranks; ++r) {
    segment_sizes.push_back(segment_of(r, num_ranks, size).size());
  }
  const int64_t my_size = segment_sizes[static_cast<std::size_t>(division.rank())];

  std::vector<at::Tensor> parts;
  std::vector<int64_t> in_counts;
  std::vector<int64_t> out_counts;
  for (int64_t r = 0; r < num_ranks; ++r) {
    const Segment segment = segment_of(r, num_ranks, size);
    for (const at::Tensor& subtree : mine) {
      parts.push_back(subtree.narrow(0, segment.begin, segment.size()));
    }
    in_counts.push_back(std::ssize(mine) * segment.size());
    out_counts.push_back(std::ssize(division.subtrees_of(r)) * my_size);
  }
  at::Tensor in = parts.empty() ? at::empty({0}, out.options()) : at::cat(parts);
  at::Tensor received =
      at::empty({std::accumulate(out_counts.begin(), out_counts.end(), int64_t{0})}, out.options());
  all_to_all(received, in, out_counts, in_counts);

  std::vector<at::Tensor> values;
  values.reserve(division.all_subtrees().size());
  for (int64_t i = 0; i < std::ssize(division.all_subtrees()); ++i) {
    values.push_back(received.narrow(0, i * my_size, my_size));
  }
  const at::Tensor sum = sum_of(division, values, {0, division.num_shards()});
  at::Tensor copies = sum.repeat({num_ranks});
  std::vector<int64_t> copy_counts(static_cast<std::size_t>(num_ranks), my_size);
  all_to_all(out, copies, segment_sizes, copy_counts);
}

}  // namespace trainer::dist
