// SPDX-License-Identifier: Apache-2.0
#include "trainer/torch/device/description.h"

#include <gtest/gtest.h>

#include "trainer/base/text/json.h"

namespace trainer::device {
namespace {

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

}  // namespace
}  // namespace trainer::device
