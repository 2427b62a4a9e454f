// SPDX-License-Identifier: Apache-2.0
#include "trainer/torch/device/description.h"

#ifdef __APPLE__
#include <sys/sysctl.h>
#endif
#ifdef TRAINER_HAS_CUDA
#include <cuda_runtime_api.h>

#include <fstream>

#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDACachingAllocator.h>
#endif

#include <fmt/format.h>

#include "trainer/base/io/sysctl.h"  // IWYU pragma: keep
#include "trainer/base/text/json.h"

namespace trainer::device {
namespace {

#ifdef __APPLE__
Description describe_mps() {
  Description description;
  description.name = sysctl_text("machdep.cpu.brand_string");
  std::size_t size = sizeof description.memory_bytes;
  sysctlbyname("hw.memsize", &description.memory_bytes, &size, nullptr, 0);
  if (const std::string version = sysctl_text("kern.osproductversion"); !version.empty()) {
    description.driver = "macOS " + version;
  }
  return description;
}
#endif

#ifdef TRAINER_HAS_CUDA
// Returns the version of the kernel module, such as "550.54.15": the first word of its description
// that looks like a version.
std::string kernel_driver() {
  std::ifstream file("/proc/driver/nvidia/version");
  for (std::string word; file >> word;) {
    const bool is_version = word.find_first_not_of("0123456789.") == std::string::npos;
    if (is_version && word.find('.') != std::string::npos) return word;
  }
  return "";
}

Description describe_cuda(c10::DeviceIndex index) {
  const cudaDeviceProp* properties = at::cuda::getDeviceProperties(index);
  Description description{.name = properties->name,
                          .memory_bytes = static_cast<int64_t>(properties->totalGlobalMem),
                          .driver = kernel_driver()};
  int version = 0;  // newest CUDA version that the driver supports, such as 12040
  if (cudaDriverGetVersion(&version) == cudaSuccess && version > 0) {
    const std::string cuda = fmt::format("CUDA {}.{}", version / 1000, version % 1000 / 10);
    description.driver =
        description.driver.empty() ? cuda : fmt::format("{} ({})", description.driver, cuda);
  }
  return description;
}
#endif

Json to_json(c10::Device device) {
  const Description description = describe(device);
  Json json = {{"device", device.str()}};
  if (!description.name.empty()) json["name"] = description.name;
  if (description.memory_bytes > 0) json["memory_bytes"] = description.memory_bytes;
  if (!description.driver.empty()) json["driver"] = description.driver;
  return json;
}

}  // namespace

Description describe(c10::Device device) {
#ifdef __APPLE__
  if (device.is_mps()) return describe_mps();
#endif
#ifdef TRAINER_HAS_CUDA
  if (device.is_cuda()) return describe_cuda(device.has_index() ? device.index() : 0);
#endif
  static_cast<void>(device);
  return {};
}

Json describe_accelerators(const AvailableDevices& available) {
  Json all = Json::array();
  for (const c10::Device device : accelerators(available)) all.push_back(to_json(device));
  return all;
}

void restart_peak_memory(c10::Device device) {
#ifdef TRAINER_HAS_CUDA
  if (device.is_cuda()) {
    c10::cuda::CUDACachingAllocator::resetPeakStats(device.has_index() ? device.index() : 0);
  }
#endif
  static_cast<void>(device);
}

}  // namespace trainer::device
