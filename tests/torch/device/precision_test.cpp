// SPDX-License-Identifier: Apache-2.0
#include "trainer/torch/device/precision.h"

#include <string>

#include <gtest/gtest.h>

#include "trainer/base/error.h"

#include "support/error_of.h"

namespace trainer::device {
namespace {

using config::Precision;

const c10::Device kCpu(c10::kCPU);
const c10::Device kMps(c10::kMPS);
const c10::Device kCuda(c10::kCUDA, 1);

const PrecisionProbe kFullSupport{
    .is_computed = true, .has_hardware = true, .macos = "", .libtorch = "2.6.0"};
const PrecisionProbe kNoInstructions{
    .is_computed = true, .has_hardware = false, .macos = "", .libtorch = "2.6.0"};

PrecisionProbe not_computed(std::string macos) {
  return {
      .is_computed = false, .has_hardware = true, .macos = std::move(macos), .libtorch = "2.6.0"};
}

TEST(PrecisionTest, WhatADeviceComputesWellIsTakenWithoutAWord) {
  for (const c10::Device device : {kCpu, kMps, kCuda}) {
    for (const Precision precision : {Precision::kFp32, Precision::kFp16, Precision::kBf16}) {
      const PrecisionChoice choice =
          choose_precision(precision, device, Fallback::kForbidden, kFullSupport);
      EXPECT_EQ(choice.precision, precision);
      EXPECT_EQ(choice.warning, "");
    }
  }
}

TEST(PrecisionTest, Fp32NeedsNothing) {
  EXPECT_EQ(precision_limit(kMps, Precision::kFp32, PrecisionProbe()).support, Support::kGood);
}

TEST(PrecisionTest, ACpuWithoutTheInstructionsIsWarnedOf) {
  const PrecisionChoice choice =
      choose_precision(Precision::kBf16, kCpu, Fallback::kForbidden, kNoInstructions);
  EXPECT_EQ(choice.precision, Precision::kBf16);
  EXPECT_EQ(choice.warning,
            "precision: this CPU has no fast instructions for bf16; training is not faster than "
            "with fp32");
  // Accelerators have their own.
  EXPECT_EQ(
      choose_precision(Precision::kBf16, kCuda, Fallback::kForbidden, kNoInstructions).warning, "");
}

struct Lack {
  c10::Device device;
  Precision precision;
  const char* macos;
  const char* text;
};

const Lack kLacks[] = {
    {kCpu, Precision::kFp16, "", "LibTorch 2.6.0 does not support fp16 on cpu"},
    {kCuda, Precision::kBf16, "", "LibTorch 2.6.0 does not support bf16 on cuda:1"},
    {kMps, Precision::kFp16, "13.6", "LibTorch 2.6.0 does not support fp16 on mps"},
    {kMps, Precision::kBf16, "13.6",
     "LibTorch 2.6.0 does not support bf16 on mps with macOS 13.6 (requires macOS 14 and LibTorch "
     "2.3)"},
};

TEST(PrecisionTest, WhatADeviceLacksBecomesFp32WithAWarning) {
  for (const Lack& lack : kLacks) {
    const PrecisionChoice choice =
        choose_precision(lack.precision, lack.device, Fallback::kToCpu, not_computed(lack.macos));
    EXPECT_EQ(choice.precision, Precision::kFp32);
    EXPECT_EQ(choice.warning, std::string("precision: ") + lack.text + "; using fp32 instead");
  }
}

TEST(PrecisionTest, WhatADeviceLacksIsAnErrorWhereNothingMayReplaceIt) {
  for (const Lack& lack : kLacks) {
    const Error error = test::error_of([&] {
      choose_precision(lack.precision, lack.device, Fallback::kForbidden, not_computed(lack.macos));
    });
    EXPECT_EQ(error.kind(), ErrorKind::kDevice);
    EXPECT_EQ(error.what(), std::string("precision: ") + lack.text +
                                "; choose another precision or device, or set device_fallback: "
                                "true");
  }
}

TEST(PrecisionTest, TheCpuComputesInFp32AndBf16) {
  EXPECT_TRUE(probe_precision(kCpu, Precision::kFp32).is_computed);
  EXPECT_TRUE(probe_precision(kCpu, Precision::kFp32).has_hardware);
  EXPECT_TRUE(probe_precision(kCpu, Precision::kBf16).is_computed);
  EXPECT_NE(probe_precision(kCpu, Precision::kBf16).libtorch, "");
}

TEST(PrecisionTest, AnAbsentDeviceComputesNothing) {
  EXPECT_FALSE(probe_precision(c10::Device(c10::kCUDA, 99), Precision::kFp16).is_computed);
}

TEST(PrecisionTest, TheFallbackOfMpsIsNamedWhereItIsSet) {
  EXPECT_EQ(mps_fallback_note(kMps, "1"),
            "PYTORCH_ENABLE_MPS_FALLBACK=1: operations that MPS does not support run on the CPU, "
            "slowly and without further warnings");
  EXPECT_EQ(mps_fallback_note(kMps, "0"), "");
  EXPECT_EQ(mps_fallback_note(kMps, nullptr), "");
  EXPECT_EQ(mps_fallback_note(kCpu, "1"), "");
}

}  // namespace
}  // namespace trainer::device
