// SPDX-License-Identifier: Apache-2.0
#include "trainer/distributed/world.h"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <utility>

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

}  // namespace trainer::dist
