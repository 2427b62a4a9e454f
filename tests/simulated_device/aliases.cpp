// SPDX-License-Identifier: Apache-2.0
#include "simulated_device/aliases.h"

#include <cstring>

#include <ATen/core/TensorBase.h>
#include <c10/core/TensorImpl.h>

#include "simulated_device/memory.h"

namespace trainer::test::simulated {
namespace {

constexpr c10::DispatchKey kKey = c10::DispatchKey::SIMULATED_DEVICE;

void* data_of(const c10::Storage& s) { return s.unsafeGetStorageImpl()->data_ptr().get(); }

at::Tensor with_layout_of(const at::Tensor& like, at::Tensor t) {
  c10::TensorImpl* impl = t.unsafeGetTensorImpl();
  impl->set_sizes_and_strides(like.sizes(), like.strides());
  impl->set_storage_offset(like.storage_offset());
  return t;
}

// The memory of `cpu`, which the operator made.
c10::DataPtr taken(const c10::Storage& cpu) {
  void* p = data_of(cpu);
  if (p == nullptr) return device_data(nullptr);
  if (is_plain_address(p)) {
    c10::DataPtr unowned(p, c10::Device(c10::kCPU));
    cpu.unsafeGetStorageImpl()->set_data_ptr(std::move(unowned)).release_context();
    return device_data(to_device(p));
  }
  void* copy = allocate(cpu.nbytes());
  std::memcpy(to_plain(copy), p, cpu.nbytes());
  return device_data(copy);
}

}  // namespace

bool is_on_device(const at::Tensor& t) { return t.defined() && t.device().type() == kType; }

at::Tensor Aliases::to_cpu(const at::Tensor& t) {
  if (!is_on_device(t)) return t;
  for (const TensorPair& pair : tensors_) {
    if (pair.device.is_same(t)) return pair.cpu;
  }
  at::Tensor cpu = with_layout_of(
      t, at::detail::make_tensor<c10::TensorImpl>(
             to_cpu(t.storage()), c10::DispatchKeySet(c10::DispatchKey::CPU), t.dtype()));
  if (t.unsafeGetTensorImpl()->is_wrapped_number()) {
    cpu.unsafeGetTensorImpl()->set_wrapped_number(true);
  }
  tensors_.push_back({t, cpu});
  return cpu;
}

c10::Storage Aliases::to_cpu(const c10::Storage& storage) {
  for (const StoragePair& pair : storages_) {
    if (pair.device.is_alias_of(storage)) return pair.cpu;
  }
  void* data = to_plain(data_of(storage));
  const c10::Storage cpu(c10::Storage::use_byte_size_t(), storage.nbytes(),
                         c10::DataPtr(data, c10::Device(c10::kCPU)), &operator_allocator(),
                         /*resizable=*/true);
  storages_.push_back({storage, cpu, data});
  return cpu;
}

at::Tensor Aliases::to_device(const at::Tensor& t) {
  if (!t.defined() || !t.device().is_cpu()) return t;
  for (const TensorPair& pair : tensors_) {
    if (pair.cpu.is_same(t)) return pair.device;  // in place, out=
  }
  for (const TensorPair& pair : tensors_) {
    if (!pair.cpu.is_alias_of(t)) continue;
    // A view inherits what its base is to autograd, within InferenceMode too.
    return with_layout_of(t, at::detail::make_tensor<c10::TensorImpl>(
                                 c10::TensorImpl::VIEW, c10::Storage(pair.device.storage()),
                                 pair.device.key_set(), t.dtype()));
  }
  return with_layout_of(t, at::detail::make_tensor<c10::TensorImpl>(
                               to_device(t.storage()), c10::DispatchKeySet(kKey), t.dtype()));
}

c10::Storage Aliases::to_device(const c10::Storage& cpu) {
  for (const StoragePair& pair : storages_) {
    if (pair.cpu.is_alias_of(cpu)) return pair.device;
  }
  const c10::Storage device(c10::Storage::use_byte_size_t(), cpu.nbytes(), taken(cpu),
                            &device_allocator(), /*resizable=*/true);
  storages_.push_back({device, cpu, data_of(cpu)});
  return device;
}

void Aliases::write_back() {
  for (StoragePair& pair : storages_) {
    c10::StorageImpl* impl = pair.device.unsafeGetStorageImpl();
    if (data_of(pair.cpu) != pair.data) impl->set_data_ptr(taken(pair.cpu));
    if (impl->nbytes() != pair.cpu.nbytes()) impl->set_nbytes(pair.cpu.nbytes());
  }
  for (const TensorPair& pair : tensors_) {
    const c10::Storage storage = to_device(pair.cpu.storage());
    if (!storage.is_alias_of(pair.device.storage())) {
      pair.device.unsafeGetTensorImpl()->set_storage_keep_dtype(storage);
    }
    if (pair.cpu.sizes() != pair.device.sizes() || pair.cpu.strides() != pair.device.strides() ||
        pair.cpu.storage_offset() != pair.device.storage_offset()) {
      with_layout_of(pair.cpu, pair.device);
    }
  }
}

}  // namespace trainer::test::simulated
