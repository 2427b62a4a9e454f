// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <c10/core/Device.h>
#include <c10/core/ScalarType.h>

#include "trainer/config/types.h"
#include "trainer/device/device.h"

namespace trainer::device {

/// The number format of products and of what lies between them.
c10::ScalarType scalar_type(config::Precision precision);

/// What is known of a number format of 16 bits on a device. Decisions are functions of it, so that
/// tests make up what this machine has not.
struct PrecisionProbe {
  bool is_computed = false;   // LibTorch has the operations of a training step there
  bool has_hardware = false;  // instructions for its products; on the CPU only
  std::string macos = {};     // its version, "14.5"; empty elsewhere
  std::string libtorch = {};  // its version
};

/// Finds out by computing: versions of LibTorch and systems differ too much to be listed.
PrecisionProbe probe_precision(c10::Device device, config::Precision precision);

enum class Support { kGood, kSlow, kNone };

/// How well a device computes in a precision.
struct PrecisionLimit {
  Support support = Support::kGood;
  std::string text;  // why it is not good, as a sentence without its end
};

/// kGood for fp32. Else kNone where LibTorch does not compute in it, kSlow on a CPU that has no
/// instructions for it.
PrecisionLimit precision_limit(c10::Device device, config::Precision precision,
                               const PrecisionProbe& probe);

/// A precision, and the sentence that is to be said about it.
struct PrecisionChoice {
  config::Precision precision = config::Precision::kFp32;
  std::string warning;  // empty where all is well
};

/// `requested`, or fp32 with a warning where the device does not compute in it; Error(kDevice)
/// where that is forbidden.
PrecisionChoice choose_precision(config::Precision requested, c10::Device device, Fallback fallback,
                                 const PrecisionProbe& probe);

/// What PYTORCH_ENABLE_MPS_FALLBACK, as `value`, does on `device`; empty where it does nothing.
std::string mps_fallback_note(c10::Device device, const char* value);

}  // namespace trainer::device
