// SPDX-License-Identifier: Apache-2.0
#include "train/shared_sums.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <utility>
#include <valarray>

#include "trainer/base/parallel/shard_tree.h"
#include "trainer/base/signals.h"
#include "trainer/distributed/world.h"

namespace trainer::train {
namespace {

/// The header of the message that each process sends to all others in a step; the totals of its
/// subtrees follow.
struct Report {
  int32_t ran_out_of_memory = 0;
  int32_t stop_signal = 0;
  int32_t save = 0;
  int32_t padding = 0;
};

/// Sums a subtree, with value(range) for each leaf.
template <class IsLeaf, class Value>
auto sum_subtree(const ShardRange& subtree, const IsLeaf& is_leaf, const Value& value) {
  std::array<decltype(value(subtree)), kMaxTreeDepths> tree{};
  const auto at = [&](int64_t depth) -> auto& { return tree[static_cast<std::size_t>(depth)]; };
  sum_tree(
      subtree, 0, is_leaf,
      [&](const ShardRange& range, int64_t depth) { at(depth) = value(range); },
      [&](int64_t depth) { at(depth) += at(depth + 1); });
  return tree.front();
}

/// Sums all shards, with value(index) for each subtree of the division.
template <class Value>
auto sum_subtrees(const dist::Division& division, const Value& value) {
  const auto find = [&](const ShardRange& range) {
    return find_subtree(division.all_subtrees(), range);
  };
  return sum_subtree(
      {0, division.num_shards()}, [&](const ShardRange& range) { return find(range).has_value(); },
      [&](const ShardRange& range) { return value(find(range).value()); });
}

/// Returns row `index` of a matrix with `width` columns.
std::valarray<double> row_of(std::span<const double> values, std::size_t width, std::size_t index) {
  return {values.data() + index * width, width};
}

}  // namespace

std::size_t SharedSums::report_size() const {
  return sizeof(Report) + division_.max_subtrees() * sizeof(ShardTotals);
}

void SharedSums::start_totals(std::span<const ShardTotals> shards,
                              const std::exception_ptr& failure) {
  my_failure_ = failure;
  const auto of_shard = [&](const ShardRange& shard) {
    return shards[static_cast<std::size_t>(shard.begin - division_.mine().begin)];
  };
  if (world_.is_alone()) {
    if (!failure) alone_ = sum_subtree(division_.mine(), is_single_shard, of_shard);
    return;
  }
  my_report_.assign(report_size(), std::byte{});
  reports_.resize(report_size() * static_cast<std::size_t>(world_.size()));
  const Report mine{.ran_out_of_memory = failure ? 1 : 0,
                    .stop_signal = stop_request(),
                    .save = take_save_request() ? 1 : 0};
  std::memcpy(my_report_.data(), &mine, sizeof mine);
  for (std::size_t i = 0; i < division_.my_subtrees().size() && !failure; ++i) {
    const ShardTotals sum = sum_subtree(division_.my_subtrees()[i], is_single_shard, of_shard);
    std::memcpy(my_report_.data() + sizeof mine + i * sizeof sum, &sum, sizeof sum);
  }
  reporting_ = world_.start_gather(my_report_, reports_);
}

SharedSums::Step SharedSums::finish_totals() {
  world_.finish(reporting_);
  if (my_failure_) std::rethrow_exception(std::exchange(my_failure_, nullptr));
  if (world_.is_alone()) return {alone_, {}};
  Step step;
  std::vector<ShardTotals> totals;
  for (std::size_t r = 0; r < static_cast<std::size_t>(world_.size()); ++r) {
    const std::byte* from = reports_.data() + r * report_size();
    Report report;
    std::memcpy(&report, from, sizeof report);
    if (report.ran_out_of_memory != 0) throw std::bad_alloc();
    step.requests.stop_signal = std::max(step.requests.stop_signal, report.stop_signal);
    step.requests.save = step.requests.save || report.save != 0;
    for (std::size_t i = 0; i < division_.subtrees_of(static_cast<int64_t>(r)).size(); ++i) {
      ShardTotals& sum = totals.emplace_back();
      std::memcpy(&sum, from + sizeof report + i * sizeof sum, sizeof sum);
    }
  }
  step.totals = sum_subtrees(division_, [&](std::size_t i) { return totals[i]; });
  return step;
}

std::vector<double> SharedSums::sum(std::span<const double> shards, std::size_t width) {
  std::vector<double> mine;
  for (const ShardRange& subtree : division_.my_subtrees()) {
    const auto sum = sum_subtree(subtree, is_single_shard, [&](const ShardRange& shard) {
      return row_of(shards, width, static_cast<std::size_t>(shard.begin - division_.mine().begin));
    });
    mine.insert(mine.end(), std::begin(sum), std::end(sum));
  }
  const std::span<const double> all = world_.is_alone() ? mine : gather(mine, width);
  const auto sum = sum_subtrees(division_, [&](std::size_t i) { return row_of(all, width, i); });
  return {std::begin(sum), std::end(sum)};
}

std::span<const double> SharedSums::gather(std::span<const double> mine,
                                           std::size_t width) noexcept {
  guard([&] {
    const std::size_t size = division_.max_subtrees() * width * sizeof(double);
    sent_.assign(size, std::byte{});
    const std::span<const std::byte> bytes = std::as_bytes(mine);
    std::copy(bytes.begin(), bytes.end(), sent_.begin());
    received_.resize(size * static_cast<std::size_t>(world_.size()));
    gathered_.resize(division_.all_subtrees().size() * width);
    world_.gather(sent_, received_);
    double* to = gathered_.data();
    for (std::size_t r = 0; r < static_cast<std::size_t>(world_.size()); ++r) {
      const std::size_t count = division_.subtrees_of(static_cast<int64_t>(r)).size() * width;
      std::memcpy(to, received_.data() + r * size, count * sizeof(double));
      to += count;
    }
  });
  // The size must be right even after a failure.
  gathered_.resize(division_.all_subtrees().size() * width);
  return gathered_;
}

void SharedSums::rethrow_failure() {
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

namespace {

constexpr int64_t kMaxFloats = 1 << 18;  // size of a piece of the rest, which finish() adds

}  // namespace

void GradientPieces::add(int64_t begin, int64_t count) noexcept {
  shared_.guard([&] {
    subtrees_.clear();
    for (const ShardRange& subtree : division_.my_subtrees()) {
      subtrees_.push_back(gradients_.at(subtree.begin - division_.mine().begin) + begin);
    }
    shared_.start_gradients(subtrees_, count, gradients_.first() + begin);
    added_.push_back({begin, begin + count});
  });
}

void GradientPieces::finish() noexcept {
  std::vector<Range> added;
  added.swap(added_);
  added.push_back({size_, size_});
  std::sort(added.begin(), added.end(),
            [](const Range& a, const Range& b) { return a.begin < b.begin; });
  int64_t end = 0;
  for (const Range& range : added) {
    while (end < range.begin) {
      const int64_t count = std::min(range.begin - end, kMaxFloats);
      add(end, count);
      end += count;
    }
    end = range.end;
  }
  shared_.guard([&] { shared_.finish_gradients(); });
  added_.clear();
}

void share_on_cpu(SharedSums& shared, const dist::Division& division, model::FlatParameters& flat,
                  const std::vector<at::Tensor>& others) {
  std::vector<at::Tensor> on_cpu = {flat.gradients.cpu()};
  for (const at::Tensor& other : others) on_cpu.push_back(other.cpu());
  std::vector<float*> subtrees;
  subtrees.reserve(on_cpu.size());
  for (const at::Tensor& gradient : on_cpu) subtrees.push_back(gradient.data_ptr<float>());
  subtrees.resize(division.my_subtrees().size());
  shared.start_gradients(subtrees, flat.num_trained, on_cpu.front().data_ptr<float>());
  shared.finish_gradients();
  flat.gradients.copy_(on_cpu.front());
}

void share_on_device(dist::World& world, const dist::Division& division,
                     const model::FlatParameters& flat, const std::vector<at::Tensor>& others) {
  std::vector<at::Tensor> subtrees = {trained_range(flat, flat.gradients)};
  for (const at::Tensor& other : others) subtrees.push_back(trained_range(flat, other));
  subtrees.resize(division.my_subtrees().size());
  dist::sum_on_device(division, world.all_to_all(), subtrees, trained_range(flat, flat.gradients));
}

}  // namespace trainer::train
