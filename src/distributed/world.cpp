// SPDX-License-Identifier: Apache-2.0
// The reduction on devices is that of reduction.cpp, with one all-to-all for each round: a rank
// receives its segment of all subtrees, adds them, and sends the sum to all. No data leaves the
// devices.
#include "trainer/distributed/world.h"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <numeric>
#include <utility>

#include <ATen/ops/add.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>

#include "trainer/base/parallel/shard_tree.h"

namespace trainer::dist {
namespace {

template <class Value>
Message message(int64_t rank, Value* values, std::size_t count) {
  // The cast is safe, because messages that are sent are only read.
  return {.rank = rank,
          .data = const_cast<void*>(static_cast<const void*>(values)),
          .num_bytes = count * sizeof(Value)};
}

/// Limits the length of a text of another rank, so that it cannot make this one allocate any amount
/// of memory.
std::size_t checked_length(uint64_t length) {
  constexpr uint64_t kMaxLength = uint64_t{1} << 30U;
  if (length <= kMaxLength) return length;
  throw Error(ErrorKind::kLostProcess, "another rank has sent what is no text; see its output");
}

}  // namespace

std::shared_ptr<void> Transport::make_memory(std::size_t num_bytes) {
  constexpr std::size_t kAlignment = 64;
  // With calloc(), the system provides zeroed pages only when they are written.
  void* memory = std::calloc(num_bytes + kAlignment, 1);
  if (memory == nullptr) throw std::bad_alloc();
  const std::shared_ptr<void> owner(memory, [](void* pointer) { std::free(pointer); });
  std::size_t space = num_bytes + kAlignment;
  return {owner, std::align(kAlignment, num_bytes, memory, space)};
}

World::World(int64_t rank, int64_t size, std::unique_ptr<Transport> transport,
             ConnectDevices connect_devices)
    : rank_(rank),
      size_(size),
      transport_(std::move(transport)),
      connect_devices_(std::move(connect_devices)) {}

void World::connect_devices(c10::Device device) {
  if (connect_devices_) all_to_all_ = connect_devices_(device);
}

int64_t World::start(std::span<const Message> sent, std::span<const Message> received) const {
  return is_alone() ? 0 : transport_->start(sent, received);
}

void World::finish(int64_t exchange, Patience patience) const {
  if (!is_alone()) transport_->finish(exchange, patience);
}

template <class PartOf>
int64_t World::start_parts(const PartOf& part_of) const {
  std::vector<Message> sent;
  std::vector<Message> received;
  const auto mine = part_of(rank_);
  for (int64_t r = 0; r < size_; ++r) {
    if (r == rank_) continue;
    sent.push_back(message(r, mine.data(), mine.size()));
    received.push_back(message(r, part_of(r).data(), part_of(r).size()));
  }
  return start(sent, received);
}

int64_t World::start_gather(std::span<const std::byte> mine, std::span<std::byte> all) const {
  const auto part_of = [&](int64_t rank) {
    return all.subspan(static_cast<std::size_t>(rank) * mine.size(), mine.size());
  };
  std::copy(mine.begin(), mine.end(), part_of(rank_).begin());
  return start_parts(part_of);
}

void World::gather(std::span<const std::byte> mine, std::span<std::byte> all,
                   Patience patience) const {
  finish(start_gather(mine, all), patience);
}

void World::gather_parts(std::span<std::byte> all, std::span<const std::size_t> begins) const {
  finish(start_parts([&](int64_t rank) {
    const auto r = static_cast<std::size_t>(rank);
    return all.subspan(begins[r], begins[r + 1] - begins[r]);
  }));
}

std::vector<std::string> World::gather_texts(const std::string& mine, Patience patience) const {
  const auto size = static_cast<std::size_t>(size_);
  std::vector<uint64_t> lengths(size);
  const uint64_t length = mine.size();
  gather(std::as_bytes(std::span(&length, 1)), std::as_writable_bytes(std::span(lengths)),
         patience);
  std::vector<std::string> texts(size);
  for (std::size_t r = 0; r < size; ++r) texts[r].resize(checked_length(lengths[r]));
  texts[static_cast<std::size_t>(rank_)] = mine;
  finish(start_parts([&](int64_t rank) {
           return std::as_writable_bytes(std::span(texts[static_cast<std::size_t>(rank)]));
         }),
         patience);
  return texts;
}

void World::broadcast(std::span<std::byte> bytes) const {
  if (is_alone()) return;
  std::vector<Message> sent;
  std::vector<Message> received;
  if (is_first()) {
    for (int64_t r = 1; r < size_; ++r) sent.push_back(message(r, bytes.data(), bytes.size()));
  } else {
    received.push_back(message(0, bytes.data(), bytes.size()));
  }
  transport_->exchange(sent, received, Patience::kForStart);
}

std::string World::broadcast_text(const std::string& text) const {
  uint64_t length = text.size();
  broadcast(std::as_writable_bytes(std::span(&length, 1)));
  std::string result = text;
  result.resize(checked_length(length));
  broadcast(std::as_writable_bytes(std::span(result)));
  return result;
}

void World::announce_failure(const std::string& why) const noexcept {
  if (transport_ != nullptr) transport_->announce_failure(why);
}

Segment segment_of(int64_t rank, int64_t num_ranks, int64_t size) {
  constexpr int64_t kLineFloats = 16;
  const auto border = [&](int64_t r) {
    return r == num_ranks ? size : size * r / num_ranks / kLineFloats * kLineFloats;
  };
  return {border(rank), border(rank + 1)};
}

Division::Division(int64_t num_shards, int64_t rank, int64_t size)
    : num_shards_(num_shards), rank_(rank), mine_(shards_of_rank(rank, size, num_shards)) {
  for (int64_t r = 0; r < size; ++r) {
    subtrees_.push_back(trainer::subtrees_of(shards_of_rank(r, size, num_shards), num_shards));
    all_.insert(all_.end(), subtrees_.back().begin(), subtrees_.back().end());
    max_subtrees_ = std::max(max_subtrees_, subtrees_.back().size());
  }
}

int64_t Division::max_rows(int64_t num_rows) const {
  const auto size = std::ssize(subtrees_);
  const int64_t max_shards = (num_shards_ + size - 1) / size;
  return std::min(num_rows, (max_shards * num_rows + num_shards_ - 1) / num_shards_);
}

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
