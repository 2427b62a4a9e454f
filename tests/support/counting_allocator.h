// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>

#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <c10/util/Exception.h>
#include <fmt/format.h>
#include <torch/version.h>

namespace trainer::test {

/// Takes the place of LibTorch's CPU allocator while it lives: counts what is held, and refuses
/// pieces of more than `largest` bytes as the real one does when memory runs out.
class CountingAllocator : public c10::Allocator {
 public:
  explicit CountingAllocator(std::size_t largest = std::numeric_limits<std::size_t>::max())
      : largest_(largest), real_(c10::GetCPUAllocator()) {
    c10::SetCPUAllocator(this, kHighest);
  }
  ~CountingAllocator() override { c10::SetCPUAllocator(real_, kHighest); }
  CountingAllocator(const CountingAllocator&) = delete;
  CountingAllocator& operator=(const CountingAllocator&) = delete;

  int64_t peak_bytes() const { return counts_->peak; }
  int64_t num_refused() const { return num_refused_; }

#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 3)
  c10::DataPtr allocate(std::size_t num_bytes) override { return take(num_bytes); }
  void copy_data(void* to, const void* from, std::size_t count) const override {
    default_copy_data(to, from, count);
  }
#else
  c10::DataPtr allocate(std::size_t num_bytes) const override { return take(num_bytes); }
#endif

 private:
  static constexpr uint8_t kHighest = 255;

  struct Counts {
    std::atomic<int64_t> held{0};
    std::atomic<int64_t> peak{0};
  };

  /// What a piece of memory knows; it may outlive the allocator.
  struct Piece {
    c10::DataPtr memory;
    std::shared_ptr<Counts> counts;
    int64_t num_bytes;
  };

  static void release(void* piece) {
    const std::unique_ptr<Piece> owner(static_cast<Piece*>(piece));
    owner->counts->held -= owner->num_bytes;
  }

  c10::DataPtr take(std::size_t num_bytes) const {
    if (num_bytes > largest_) {
      ++num_refused_;
      throw c10::Error({__func__, __FILE__, __LINE__},
                       fmt::format("DefaultCPUAllocator: can't allocate memory: you tried to "
                                   "allocate {} bytes. Error code 12 (Cannot allocate memory)",
                                   num_bytes));
    }
    c10::DataPtr memory = real_->allocate(num_bytes);
    void* data = memory.get();
    const auto size = static_cast<int64_t>(num_bytes);
    const int64_t held = counts_->held += size;
    counts_->peak = std::max<int64_t>(counts_->peak, held);
    auto piece = std::make_unique<Piece>(Piece{std::move(memory), counts_, size});
    return {data, piece.release(), release, c10::Device(c10::kCPU)};
  }

  std::size_t largest_;
  c10::Allocator* real_;
  std::shared_ptr<Counts> counts_ = std::make_shared<Counts>();
  mutable std::atomic<int64_t> num_refused_{0};
};

}  // namespace trainer::test
