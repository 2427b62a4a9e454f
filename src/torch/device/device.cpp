// SPDX-License-Identifier: Apache-2.0
#include "trainer/torch/device/device.h"

#include <cstddef>
#include <cstdlib>

#include <ATen/Context.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <c10/util/Exception.h>
#include <fmt/format.h>
#include <torch/version.h>

#include "trainer/base/error.h"
#include "trainer/base/io/sysctl.h"  // IWYU pragma: keep
#include "trainer/base/philox.h"
#include "trainer/base/text/json.h"
#include "trainer/base/text/parse.h"

#ifdef __APPLE__
#include <sys/sysctl.h>
#endif
#ifdef TRAINER_HAS_CUDA
#include <cuda_runtime_api.h>

#include <fstream>

#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDACachingAllocator.h>
#endif

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

uint64_t dropout_seed(uint64_t seed, int64_t step) {
  return PhiloxStream(seed, StreamId::kDropout, static_cast<uint64_t>(step)).next_u64();
}

namespace {

// Removes the advice to disable the memory limit of MPS, because without it the whole system can
// fail.
std::string without_dangerous_advice(std::string text) {
  const std::size_t begin = text.find(" Use PYTORCH_MPS_HIGH_WATERMARK_RATIO=0.0 ");
  if (begin == std::string::npos) return text;
  const std::size_t end = text.find('.', text.find("limit for memory", begin));
  return text.erase(begin, end == std::string::npos ? end : end + 1 - begin);
}

}  // namespace

std::string error_text(const std::exception& error) {
  const auto* libtorch = dynamic_cast<const c10::Error*>(&error);
  return without_dangerous_advice(libtorch == nullptr ? error.what()
                                                      : libtorch->what_without_backtrace());
}

std::string error_line(const std::exception& error) {
  const std::string text = error_text(error);
  return text.substr(0, text.find('\n'));
}

}  // namespace trainer::device
