// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

namespace trainer::cpu {

/// Returns a / b rounded up, for a >= 0 and b > 0.
constexpr int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// An array of floats that starts at a cache line and is initialized to zero.
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(int64_t size)
      : data_(new (kAlignment) float[static_cast<std::size_t>(size)]()), size_(size) {}

  float* get() const { return data_.get(); }
  int64_t size() const { return size_; }

 private:
  static constexpr std::align_val_t kAlignment{64};

  struct Free {
    void operator()(float* data) const { operator delete[](data, kAlignment); }
  };
  std::unique_ptr<float[], Free> data_;
  int64_t size_ = 0;
};

/// Returns a row stride, in floats, for a matrix with `num_columns` columns: each row begins at a
/// cache line, and the rows do not all fall into the same cache set.
constexpr int64_t padded_stride(int64_t num_columns) {
  constexpr int64_t kLine = 16;
  constexpr int64_t kBadMultiple = 256;  // 1 KiB
  const int64_t stride = ceil_div(num_columns, kLine) * kLine;
  return stride % kBadMultiple == 0 ? stride + kLine : stride;
}

}  // namespace trainer::cpu
