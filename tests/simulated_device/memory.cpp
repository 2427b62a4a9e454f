// SPDX-License-Identifier: Apache-2.0
#include "simulated_device/memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <unordered_map>
#include <vector>

#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <c10/util/Exception.h>
#include <torch/version.h>

#include "simulated_device/state.h"

namespace trainer::test::simulated {
namespace {

struct Block {
  std::size_t size = 0;
  const char* made_by = "";  // an operator
};

/// Blocks are found by their offset from `base`.
struct Memory {
  char* base = nullptr;  // of the addresses that may not be touched
  std::size_t span = 0;  // their number
  std::size_t used = 0;  // of them
  std::map<std::size_t, Block> blocks;
  std::unordered_map<std::size_t, std::vector<std::size_t>> free;  // by size
};

Memory& memory() {
  static auto* one = new Memory;  // outlives all tensors
  return *one;
}

// Addresses, not memory; fewer where the process is limited.
void reserve(Memory& m) {
  constexpr std::size_t kMost = std::size_t{1} << 37;
  constexpr std::size_t kLeast = std::size_t{1} << 24;
  for (m.span = kMost; m.base == nullptr; m.span /= 2) {
    TORCH_CHECK(m.span >= kLeast, "no address space for the simulated device");
    void* p =
        mmap(nullptr, 2 * m.span, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) continue;
    char* base = static_cast<char*>(p);
    TORCH_CHECK(mprotect(base + m.span, m.span, PROT_READ | PROT_WRITE) == 0);
    m.base = base;
    return;
  }
}

// As MPS writes it.
std::string size_text(int64_t bytes) {
  constexpr std::array<const char*, 3> kUnits = {"KB", "MB", "GB"};
  if (bytes <= 1024) return std::to_string(bytes) + " bytes";
  auto size = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  for (; size > 1024 && unit + 1 < kUnits.size(); ++unit) size /= 1024;
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%.2f %s", size, kUnits.at(unit));
  return text.data();
}

void check_budget(const State& s, int64_t bytes) {
  const Behaviour& b = s.behaviour;
  TORCH_CHECK(b.max_buffer_bytes == 0 || bytes <= b.max_buffer_bytes,
              "Invalid buffer size: ", size_text(bytes));
  if (b.max_bytes != 0 && s.counters.bytes + bytes > b.max_bytes) throw_out_of_memory(s, bytes);
}

void free_block(void* p) {
  if (p == nullptr) return;
  State& s = state();
  const std::lock_guard lock(s.mutex);
  Memory& m = memory();
  const auto found = m.blocks.find(static_cast<std::size_t>(static_cast<char*>(p) - m.base));
  if (found == m.blocks.end()) std::abort();  // freed twice
  m.free[found->second.size].push_back(found->first);
  s.counters.bytes -= static_cast<int64_t>(found->second.size);
  m.blocks.erase(found);
}

// Before LibTorch 2, these functions are const.
#if TORCH_VERSION_MAJOR >= 2
#define TRAINER_CONST_BEFORE_2
#else
#define TRAINER_CONST_BEFORE_2 const
#endif

struct DeviceAllocator final : c10::Allocator {
  c10::DataPtr allocate(std::size_t n) TRAINER_CONST_BEFORE_2 override {
    return device_data(n == 0 ? nullptr : simulated::allocate(n));
  }
  c10::DeleterFnPtr raw_deleter() const override { return &free_block; }
#if TORCH_VERSION_MAJOR >= 2
  void copy_data(void* to, const void* from, std::size_t n) const override {
    std::memcpy(to_plain(to), to_plain(from), n);
  }
#endif
};

c10::Allocator* cpu_allocator = nullptr;

void free_either(void* p) {
  if (is_plain_address(p)) {
    free_block(to_device(p));
  } else {
    cpu_allocator->raw_deleter()(p);
  }
}

struct OperatorAllocator final : c10::Allocator {
  c10::DataPtr allocate(std::size_t n) TRAINER_CONST_BEFORE_2 override {
    if (thread_operator().depth == 0) return cpu_allocator->allocate(n);
    void* p = n == 0 ? nullptr : to_plain(simulated::allocate(n));
    return {p, p, &free_either, c10::Device(c10::kCPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &free_either; }
#if TORCH_VERSION_MAJOR >= 2
  void copy_data(void* to, const void* from, std::size_t n) const override {
    std::memcpy(to, from, n);
  }
#endif
};

#undef TRAINER_CONST_BEFORE_2

bool is_within(const void* p, const char* begin) {
  return memory().base != nullptr && p >= begin && p < begin + memory().span;
}

}  // namespace

void throw_out_of_memory(const State& s, int64_t bytes) {
  TORCH_CHECK_WITH(OutOfMemoryError, !kIsCuda, "CUDA out of memory. Tried to allocate ",
                   size_text(bytes), ".");
  throw c10::Error(
      {__func__, __FILE__, __LINE__},
      "MPS backend out of memory (MPS allocated: " + size_text(s.counters.bytes) +
          ", other allocations: 0 bytes, max allowed: " + size_text(s.behaviour.max_bytes) +
          "). Tried to allocate " + size_text(bytes) +
          " on private pool. Use PYTORCH_MPS_HIGH_WATERMARK_RATIO=0.0 to disable "
          "upper limit for memory allocations (may cause system failure).");
}

ThreadOperator& thread_operator() {
  thread_local ThreadOperator one;
  return one;
}

bool is_device_address(const void* p) { return is_within(p, memory().base); }

bool is_plain_address(const void* p) { return is_within(p, memory().base + memory().span); }

void* to_plain(const void* device_address) {
  if (device_address == nullptr) return nullptr;
  return const_cast<char*>(static_cast<const char*>(device_address)) + memory().span;
}

void* to_device(const void* plain_address) {
  if (plain_address == nullptr) return nullptr;
  return const_cast<char*>(static_cast<const char*>(plain_address)) - memory().span;
}

void* allocate(std::size_t bytes) {
  constexpr std::size_t kAlignment = 64;
  State& s = state();
  const std::lock_guard lock(s.mutex);
  Memory& m = memory();
  if (m.base == nullptr) reserve(m);
  const std::size_t size = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  check_budget(s, static_cast<int64_t>(size));
  std::vector<std::size_t>& free = m.free[size];
  std::size_t offset = m.used;
  if (!free.empty()) {
    offset = free.back();
    free.pop_back();
  } else {
    TORCH_CHECK(m.used + size <= m.span, "the simulated device has no more addresses");
    m.used += size;
    ++s.counters.new_blocks;
  }
  m.blocks[offset] = {size, thread_operator().name};
  ++s.counters.allocations;
  s.counters.bytes += static_cast<int64_t>(size);
  s.counters.peak_bytes = std::max(s.counters.peak_bytes, s.counters.bytes);
  std::memset(to_plain(m.base + offset), 0xFF, size);
  return m.base + offset;
}

int64_t bytes_in_use() {
  const std::lock_guard lock(state().mutex);
  return state().counters.bytes;
}

c10::DataPtr device_data(void* device_address) {
  return {device_address, device_address, &free_block, the_device()};
}

c10::Allocator& device_allocator() {
  static DeviceAllocator one;
  return one;
}

c10::Allocator& operator_allocator() {
  static OperatorAllocator one;
  return one;
}

void install_allocators() {
  cpu_allocator = c10::GetAllocator(c10::kCPU);
  c10::SetAllocator(c10::kCPU, &operator_allocator(), /*priority=*/1);
  c10::SetAllocator(kType, &device_allocator(), /*priority=*/1);
}

const char* maker_of(const void* device_address) {
  const Memory& m = memory();
  const auto offset = static_cast<std::size_t>(static_cast<const char*>(device_address) - m.base);
  auto after = m.blocks.upper_bound(offset);
  return after == m.blocks.begin() ? "?" : (--after)->second.made_by;
}

}  // namespace trainer::test::simulated
