// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <exception>
#include <string>
#include <vector>

#include <c10/core/Device.h>
#include <nlohmann/json_fwd.hpp>

namespace trainer::device {

/// The accelerators that this LibTorch can use on this machine.
struct AvailableDevices {
  int num_cuda = 0;
  bool mps = false;
};

/// Detects the accelerators of this machine.
AvailableDevices available_devices();

/// Lists the accelerators, such as "mps", or "cuda:0" and "cuda:1".
std::vector<c10::Device> accelerators(const AvailableDevices& available);

/// If a CUDA device is available, makes LibTorch use operations that give the same bits each time,
/// as torch.use_deterministic_algorithms(True, warn_only=True) does; also cuBLAS, unless the user
/// has set CUBLAS_WORKSPACE_CONFIG. Must be called before CUDA is used.
void use_deterministic_algorithms(const AvailableDevices& available);

/// A device and the reason for choosing it.
struct DeviceChoice {
  c10::Device device = c10::Device(c10::kCPU);
  std::string reason;
  std::string warning;  // empty if this is the requested device
};

enum class Fallback { kToCpu, kForbidden };

/// Returns the device for `requested` ("auto", "cpu", "mps", "cuda" or "cuda:N"). If it is
/// unavailable, returns the CPU with a warning, or throws Error(kDevice) if the fallback is
/// forbidden.
DeviceChoice choose_device(const std::string& requested, Fallback fallback,
                           const AvailableDevices& available);

/// The name, memory and driver of an accelerator. Members are empty or 0 if unknown.
struct Description {
  std::string name;          // such as "NVIDIA A100-SXM4-40GB" or "Apple M2 Pro"
  int64_t memory_bytes = 0;  // MPS: the memory of the machine, which the GPU shares
  std::string driver;        // such as "550.54.15 (CUDA 12.4)" or "macOS 14.5"
};

/// Describes an accelerator with the information of its driver.
Description describe(c10::Device device);

/// The available accelerators for system.json: a list of objects with `device` and, if known,
/// `name`, `memory_bytes` and `driver`.
nlohmann::ordered_json describe_accelerators(const AvailableDevices& available);

/// Resets the peak of accelerator_memory() to the current use, if the device has a peak.
void restart_peak_memory(c10::Device device);

/// Returns the seed of the dropout noise of a step. It depends on (seed, step) only, so that no
/// generator state has to be saved.
uint64_t dropout_seed(uint64_t seed, int64_t step);

/// The message of `error`. From an error of LibTorch, the backtrace is removed.
std::string error_text(const std::exception& error);

/// The first line of error_text().
std::string error_line(const std::exception& error);

}  // namespace trainer::device
