// SPDX-License-Identifier: Apache-2.0
// What LibTorch asks a device for besides operators: that it is there, its streams and its random
// numbers. Registries that are empty in a LibTorch without the device get entries; they are read
// once, so this library has to be loaded before main().
#include "simulated_device/hooks.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <torch/version.h>
#if TORCH_VERSION_MAJOR >= 2
#include <ATen/detail/MPSHooksInterface.h>
#endif

#include "simulated_device/memory.h"

namespace trainer::test::simulated {
namespace {

struct Guard final : c10::impl::DeviceGuardImplInterface {
  c10::DeviceType type() const override { return kType; }
  c10::Device exchangeDevice(c10::Device /*device*/) const override { return the_device(); }
  c10::Device getDevice() const override { return the_device(); }
  void setDevice(c10::Device /*device*/) const override {}
  void uncheckedSetDevice(c10::Device /*device*/) const noexcept override {}
  c10::Stream getStream(c10::Device /*device*/) const noexcept override {
    return c10::Stream(c10::Stream::DEFAULT, the_device());
  }
  c10::Stream exchangeStream(c10::Stream s) const noexcept override { return s; }
  c10::DeviceIndex deviceCount() const noexcept override { return 1; }
};

C10_REGISTER_GUARD_IMPL(SIMULATED_DEVICE, Guard);

#if TORCH_VERSION_MAJOR >= 2

// Functions without `override` became virtual in some later version.
struct MpsHooks final : at::MPSHooksInterface {
  template <class... Arguments>  // none in later versions
  explicit MpsHooks(const Arguments&... /*arguments*/) {}
  void init() const override {}
  bool hasMPS() const override { return true; }
  c10::DeviceIndex deviceCount() const override { return 1; }
  bool isOnMacOSorNewer(unsigned /*major*/, unsigned /*minor*/) const override { return true; }
  const at::Generator& getDefaultGenerator(c10::DeviceIndex /*index*/) const override {
    return generator();
  }
  void deviceSynchronize() const override {}
  void emptyCache() const override {}
  std::size_t getCurrentAllocatedMemory() const override {
    return static_cast<std::size_t>(bytes_in_use());
  }
  std::size_t getDriverAllocatedMemory() const override { return getCurrentAllocatedMemory(); }
  bool isBuilt() const { return true; }
  bool isAvailable() const { return true; }
  bool hasPrimaryContext(c10::DeviceIndex /*index*/) const override { return true; }
};

struct CudaHooks final : at::CUDAHooksInterface {
  template <class... Arguments>
  explicit CudaHooks(const Arguments&... /*arguments*/) {}
  void init() const override {}
  bool hasCUDA() const override { return true; }
  c10::DeviceIndex deviceCount() const override { return 1; }
  const at::Generator& getDefaultGenerator(c10::DeviceIndex /*index*/) const override {
    return generator();
  }
  c10::Allocator* getPinnedMemoryAllocator() const override { return c10::GetCPUAllocator(); }
  bool isBuilt() const { return true; }
  bool isAvailable() const { return true; }
  bool hasPrimaryContext(c10::DeviceIndex /*index*/) const override { return true; }
};

#else

struct CudaHooks final : at::CUDAHooksInterface {
  template <class... Arguments>
  explicit CudaHooks(const Arguments&... /*arguments*/) {}
  void initCUDA() const override {}
  bool hasCUDA() const override { return true; }
  int getNumGPUs() const override { return 1; }
  c10::Allocator* getPinnedMemoryAllocator() const override { return c10::GetCPUAllocator(); }
  const at::Generator& getDefaultCUDAGenerator(c10::DeviceIndex /*index*/) const override {
    return generator();
  }
  bool hasPrimaryContext(int64_t /*index*/) const override { return true; }
};

#endif

const bool kHasAllocators = [] {
  install_allocators();
  return true;
}();

}  // namespace

const at::Generator& generator() {
#if TORCH_VERSION_MAJOR < 2
  if (kIsMps) return at::detail::getDefaultCPUGenerator();
#endif
  static const at::Generator own = at::detail::createCPUGenerator(c10::default_rng_seed_val);
  return own;
}

}  // namespace trainer::test::simulated

namespace at {
#ifdef SIMULATES_CUDA
C10_REGISTER_CLASS(CUDAHooksRegistry, CUDAHooks, trainer::test::simulated::CudaHooks);
#elif TORCH_VERSION_MAJOR >= 2
C10_REGISTER_CLASS(MPSHooksRegistry, MPSHooks, trainer::test::simulated::MpsHooks);
#else
// Before 2.0, whether there is MPS was compiled into LibTorch, as a function that a library loaded
// before it can replace.
extern "C" __attribute__((visibility("default"))) bool simulated_has_mps() __asm__(
    "_ZN2at7Context6hasMPSEv");
extern "C" bool simulated_has_mps() { return true; }
#endif
}  // namespace at
