// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <ATen/core/Tensor.h>
#include <c10/core/Storage.h>

namespace trainer::test::simulated {

bool is_on_device(const at::Tensor& t);

/// The tensors of one operator as CPU tensors on the same memory, and the way back. One CPU tensor
/// for each tensor and one storage for each storage: kernels see which of them overlap.
class Aliases {
 public:
  /// Tensors of other devices are returned as they are.
  at::Tensor to_cpu(const at::Tensor& t);
  c10::Storage to_cpu(const c10::Storage& storage);

  /// The tensor that `t` was made for, a view of one, or a tensor on the memory that the operator
  /// made: its owner changes, nothing is copied.
  at::Tensor to_device(const at::Tensor& t);

  /// What the operator did to its arguments: resized, transposed, set to other memory.
  void write_back();

 private:
  struct TensorPair {
    at::Tensor device;
    at::Tensor cpu;
  };
  struct StoragePair {
    c10::Storage device;
    c10::Storage cpu;
    void* data;  // of `cpu`, before the operator
  };

  c10::Storage to_device(const c10::Storage& cpu);

  std::vector<TensorPair> tensors_;
  std::vector<StoragePair> storages_;
};

}  // namespace trainer::test::simulated
