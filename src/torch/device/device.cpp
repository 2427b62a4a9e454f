// SPDX-License-Identifier: Apache-2.0
#include "trainer/torch/device/device.h"

#include <cstdlib>

#include <ATen/Context.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <fmt/format.h>
#include <torch/version.h>

#include "trainer/base/error.h"
#include "trainer/base/text/parse.h"

namespace trainer::device {
namespace {

std::string names_of(const AvailableDevices& available) {
  std::string text = "cpu";
  for (const c10::Device device : accelerators(available)) text += ", " + device.str();
  return text;
}

c10::Device cuda_device(int64_t index) {
  return {c10::kCUDA, static_cast<c10::DeviceIndex>(index)};
}

// Returns the index in "cuda" (0) or "cuda:N"; -1 if `requested` is no CUDA device.
int64_t cuda_index(const std::string& requested) {
  if (requested == "cuda") return 0;
  if (!requested.starts_with("cuda:")) return -1;
  return parse_int(requested.substr(5)).value_or(-1);
}

}  // namespace

AvailableDevices available_devices() {
  AvailableDevices available;
  available.mps = at::hasMPS() && c10::impl::hasDeviceGuardImpl(c10::kMPS);
  if (at::hasCUDA() && c10::impl::hasDeviceGuardImpl(c10::kCUDA)) {
    available.num_cuda = c10::impl::getDeviceGuardImpl(c10::kCUDA)->deviceCount();
  }
  return available;
}

std::vector<c10::Device> accelerators(const AvailableDevices& available) {
  std::vector<c10::Device> devices;
  if (available.mps) devices.emplace_back(c10::kMPS);
  for (int i = 0; i < available.num_cuda; ++i) devices.push_back(cuda_device(i));
  return devices;
}

void use_deterministic_algorithms(const AvailableDevices& available) {
  if (available.num_cuda == 0) return;
  setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", /*overwrite=*/0);
  at::Context& context = at::globalContext();
  context.setDeterministicAlgorithms(true, /*warn_only=*/true);
  context.setDeterministicCuDNN(true);
#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 2)
  // This option only helps to find errors, and would write all memory once more.
  context.setDeterministicFillUninitializedMemory(false);
#endif
}

DeviceChoice choose_device(const std::string& requested, Fallback fallback,
                           const AvailableDevices& available) {
  if (requested == "cpu") return {c10::Device(c10::kCPU), "as configured", ""};
  if (requested == "auto") {
    if (available.num_cuda > 0) return {cuda_device(0), "auto: the first CUDA device", ""};
    if (available.mps) return {c10::Device(c10::kMPS), "auto: no CUDA device", ""};
    return {c10::Device(c10::kCPU), "auto: no CUDA or MPS device", ""};
  }
  if (requested == "mps" && available.mps) return {c10::Device(c10::kMPS), "as configured", ""};
  const int64_t index = cuda_index(requested);
  if (index >= 0 && index < available.num_cuda) return {cuda_device(index), "as configured", ""};

  const std::string problem =
      fmt::format("device {} is not available (available: {})", requested, names_of(available));
  if (fallback == Fallback::kForbidden) {
    throw Error(ErrorKind::kDevice,
                problem + "; choose another device or set device_fallback: true");
  }
  return {c10::Device(c10::kCPU), fmt::format("instead of {}", requested),
          problem + "; using the CPU instead"};
}

}  // namespace trainer::device
