// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

namespace trainer::cpu {

/// Floats that begin at a cache line, all zero.
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(int64_t size) : data_(new (kAlignment) float[static_cast<std::size_t>(size)]()) {}

  float* get() const { return data_.get(); }

 private:
  static constexpr std::align_val_t kAlignment{64};

  struct Free {
    void operator()(float* data) const { operator delete[](data, kAlignment); }
  };
  std::unique_ptr<float[], Free> data_;
};

}  // namespace trainer::cpu
