// SPDX-License-Identifier: Apache-2.0

#include "trainer/torch/device/device.h"

#include <cstdint>
#include <cstdlib>
#include <string>

#include <ATen/Context.h>
#include <gtest/gtest.h>

#include "trainer/base/error.h"
#include "trainer/base/text/json.h"

#include "support/error_of.h"

namespace trainer::device {
namespace {

constexpr AvailableDevices kNothing{0, false};
constexpr AvailableDevices kOnlyMps{0, true};
constexpr AvailableDevices kTwoCuda{2, false};
constexpr AvailableDevices kEverything{2, true};

struct Case {
  const char* requested;
  AvailableDevices available;
  const char* device;
  const char* reason;
};

TEST(DeviceTest, AnAvailableDeviceIsTakenWithoutAWarning) {
  const Case cases[] = {
      {"cpu", kNothing, "cpu", "as configured"},
      {"cpu", kEverything, "cpu", "as configured"},
      {"mps", kOnlyMps, "mps", "as configured"},
      {"mps", kEverything, "mps", "as configured"},
      {"cuda", kTwoCuda, "cuda:0", "as configured"},
      {"cuda:0", kEverything, "cuda:0", "as configured"},
      {"cuda:1", kTwoCuda, "cuda:1", "as configured"},
      {"auto", kNothing, "cpu", "auto: no CUDA or MPS device"},
      {"auto", kOnlyMps, "mps", "auto: no CUDA device"},
      {"auto", kTwoCuda, "cuda:0", "auto: the first CUDA device"},
      {"auto", kEverything, "cuda:0", "auto: the first CUDA device"},
  };
  for (const Case& c : cases) {
    for (const Fallback fallback : {Fallback::kToCpu, Fallback::kForbidden}) {
      const DeviceChoice choice = choose_device(c.requested, fallback, c.available);
      EXPECT_EQ(choice.device.str(), c.device) << c.requested;
      EXPECT_EQ(choice.reason, c.reason) << c.requested;
      EXPECT_EQ(choice.warning, "") << c.requested;
    }
  }
}

struct Absent {
  const char* requested;
  AvailableDevices available;
  const char* there_is;
};

const Absent kAbsent[] = {
    {"mps", kNothing, "cpu"},
    {"mps", kTwoCuda, "cpu, cuda:0, cuda:1"},
    {"cuda", kNothing, "cpu"},
    {"cuda", kOnlyMps, "cpu, mps"},
    {"cuda:0", kOnlyMps, "cpu, mps"},
    {"cuda:2", kEverything, "cpu, mps, cuda:0, cuda:1"},
    {"cuda:2", kTwoCuda, "cpu, cuda:0, cuda:1"},
    {"cuda:99999999999999999999", kTwoCuda, "cpu, cuda:0, cuda:1"},
    {"cuda:4294967296", kTwoCuda, "cpu, cuda:0, cuda:1"},  // 0 if it were cut to 32 bits
};

std::string problem(const Absent& absent) {
  return std::string("device ") + absent.requested +
         " is not available (available: " + absent.there_is + ")";
}

TEST(DeviceTest, AnAbsentDeviceBecomesTheCpuWithAWarning) {
  for (const Absent& absent : kAbsent) {
    const DeviceChoice choice = choose_device(absent.requested, Fallback::kToCpu, absent.available);
    EXPECT_EQ(choice.device.str(), "cpu");
    EXPECT_EQ(choice.reason, std::string("instead of ") + absent.requested);
    EXPECT_EQ(choice.warning, problem(absent) + "; using the CPU instead");
  }
}

TEST(DeviceTest, AnAbsentDeviceIsAnErrorWhereTheCpuMayNotReplaceIt) {
  for (const Absent& absent : kAbsent) {
    const Error error = test::error_of(
        [&] { choose_device(absent.requested, Fallback::kForbidden, absent.available); });
    EXPECT_EQ(error.kind(), ErrorKind::kDevice);
    EXPECT_EQ(error.what(),
              problem(absent) + "; choose another device or set device_fallback: true");
  }
}

TEST(DeviceTest, WhatIsAvailableCanBeChosen) {
  const AvailableDevices available = available_devices();
  EXPECT_GE(available.num_cuda, 0);
  EXPECT_EQ(choose_device("auto", Fallback::kForbidden, available).warning, "");
}

TEST(DeviceTest, CudaIsAskedForTheSameBitsEachTime) {
  at::Context& context = at::globalContext();
  ASSERT_EQ(unsetenv("CUBLAS_WORKSPACE_CONFIG"), 0);
  use_deterministic_algorithms(kOnlyMps);
  EXPECT_FALSE(context.deterministicAlgorithms());
  EXPECT_EQ(std::getenv("CUBLAS_WORKSPACE_CONFIG"), nullptr);
  use_deterministic_algorithms(kTwoCuda);
  EXPECT_TRUE(context.deterministicAlgorithms());
  EXPECT_TRUE(context.deterministicAlgorithmsWarnOnly());
  EXPECT_STREQ(std::getenv("CUBLAS_WORKSPACE_CONFIG"), ":4096:8");
  context.setDeterministicAlgorithms(false, false);
  context.setDeterministicCuDNN(false);
  unsetenv("CUBLAS_WORKSPACE_CONFIG");
}

TEST(DescriptionTest, ListsTheAcceleratorsInTheOrderOfTheirNumbers) {
  EXPECT_EQ(describe_accelerators({}), Json::array());
  const AvailableDevices available = available_devices();
  const Json all = describe_accelerators(available);
  ASSERT_EQ(static_cast<int>(all.size()), available.num_cuda + (available.mps ? 1 : 0));
  for (int i = 0; i < available.num_cuda; ++i) {
    const Json& one = all.at(all.size() - static_cast<std::size_t>(available.num_cuda - i));
    EXPECT_EQ(one.at("device"), "cuda:" + std::to_string(i));
  }
}

TEST(DescriptionTest, LeavesOutWhatIsUnknown) {
  const Description description = describe(c10::Device(c10::kCPU));
  EXPECT_EQ(description.name, "");
  EXPECT_EQ(description.memory_bytes, 0);
  EXPECT_EQ(description.driver, "");
#if !defined(__APPLE__)
  const Json expected = Json::array({{{"device", "mps"}}});
  EXPECT_EQ(describe_accelerators({.mps = true}), expected);
#endif
}

TEST(RandomTest, TheSeedOfDropoutDependsOnSeedAndStepAlone) {
  EXPECT_EQ(dropout_seed(42, 3), dropout_seed(42, 3));
  EXPECT_NE(dropout_seed(42, 3), dropout_seed(42, 4));
  EXPECT_NE(dropout_seed(42, 3), dropout_seed(43, 3));
  EXPECT_NE(dropout_seed(42, 3), dropout_seed(42, int64_t{3} + (int64_t{1} << 32)));
}

}  // namespace

}  // namespace trainer::device
