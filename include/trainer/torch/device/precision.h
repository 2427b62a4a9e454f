// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <c10/core/Device.h>
#include <c10/core/ScalarType.h>

#include "trainer/config/types.h"
#include "trainer/torch/device/device.h"

namespace trainer::device {

/// Returns the type of LibTorch's tensors for `precision`.
c10::ScalarType scalar_type(config::Precision precision);

/// How a device supports a precision. All decisions are functions of it, so that tests can cover
/// devices that this machine does not have.
struct PrecisionProbe {
  bool is_computed = false;   // LibTorch implements the operations of a training step
  bool has_hardware = false;  // the CPU has instructions for products in the precision
  std::string macos = {};     // version, such as "14.5"; empty on other systems
  std::string libtorch = {};  // version
};

/// Finds out by trying the operations of a step, because versions of LibTorch and systems differ
/// too much for a list.
PrecisionProbe probe_precision(c10::Device device, config::Precision precision);

enum class Support { kGood, kSlow, kNone };

/// How well a device computes in a precision.
struct PrecisionLimit {
  Support support = Support::kGood;
  std::string text;  // why the support is not good, as a sentence without a period
};

/// Returns kGood for fp32. Otherwise kNone if LibTorch does not implement the precision, kSlow on a
/// CPU without instructions for it, else kGood.
PrecisionLimit precision_limit(c10::Device device, config::Precision precision,
                               const PrecisionProbe& probe);

/// A precision and a warning about it.
struct PrecisionChoice {
  config::Precision precision = config::Precision::kFp32;
  std::string warning;  // empty: no warning
};

/// Returns `requested`, with a warning if it is slow, or fp32 with a warning if the device does not
/// support it. Throws Error(kDevice) if this fallback is forbidden.
PrecisionChoice choose_precision(config::Precision requested, c10::Device device, Fallback fallback,
                                 const PrecisionProbe& probe);

/// Returns `requested`, or fp32 if the CPU does not support it.
config::Precision precision_on_cpu(config::Precision requested);

/// Describes the effect on `device` of PYTORCH_ENABLE_MPS_FALLBACK with this value; empty if it has
/// none.
std::string mps_fallback_note(c10::Device device, const char* value);

}  // namespace trainer::device
