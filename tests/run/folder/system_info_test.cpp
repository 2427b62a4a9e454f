// SPDX-License-Identifier: Apache-2.0

#include "trainer/run/folder/system_info.h"

#include <gtest/gtest.h>

#include "trainer/base/text/json.h"

namespace trainer::run {
namespace {

TEST(SystemInfoTest, NamesMachineBuildAndBlas) {
  const Json info = system_info();
  EXPECT_EQ(info["schema_version"], 1);
  for (const char* key : {"name", "os", "kernel", "architecture", "cpu"}) {
    EXPECT_FALSE(info["host"][key].get<std::string>().empty()) << key;
  }
  for (const char* key : {"version", "git_commit", "compiler", "build_type", "libtorch"}) {
    EXPECT_FALSE(info["build"][key].get<std::string>().empty()) << key;
  }
  EXPECT_GT(info["host"]["memory_bytes"].get<uint64_t>(), 1U << 28);
  EXPECT_FALSE(info["blas"].get<std::string>().empty());
  for (const char* name :
       {"LibTorch", "yaml-cpp", "fmt", "spdlog", "CLI11", "nlohmann_json", "zlib"}) {
    ASSERT_TRUE(info["libraries"].contains(name)) << name;
    EXPECT_FALSE(info["libraries"][name].get<std::string>().empty()) << name;
  }
}

TEST(SystemInfoTest, AnAcceleratorIsNamedWithWhatIsKnownOfIt) {
  EXPECT_EQ(accelerator_text(JsonReader(Json{{"device", "mps"}})), "mps");
  EXPECT_EQ(accelerator_text(JsonReader(Json{{"device", "cuda:0"},
                                             {"name", "NVIDIA A100"},
                                             {"memory_bytes", uint64_t{40} << 30},
                                             {"driver", "550.54.15 (CUDA 12.4)"}})),
            "cuda:0 NVIDIA A100, 40.0 GiB, driver 550.54.15 (CUDA 12.4)");
}

TEST(SystemInfoTest, TheTimestampHasItsOffset) {
  const std::string text = timestamp();
  ASSERT_EQ(text.size(), 24U) << text;
  EXPECT_EQ(text[10], 'T');
  EXPECT_TRUE(text[19] == '+' || text[19] == '-');
}

TEST(BlasTest, IsNamed) { EXPECT_FALSE(blas_info().name.empty()); }

TEST(BlasTest, ACoreWithoutAvx2IsReplacedOnACpuThatHasIt) {
  EXPECT_EQ(better_blas_core("Prescott", Vectors::kAvx512), "SkylakeX");
  EXPECT_EQ(better_blas_core("Prescott", Vectors::kAvx2), "Haswell");
  EXPECT_EQ(better_blas_core("Sandybridge", Vectors::kAvx2), "Haswell");
  EXPECT_EQ(better_blas_core("Unknown", Vectors::kAvx512), "SkylakeX");
}

TEST(BlasTest, OtherCoresAreLeftAlone) {
  EXPECT_EQ(better_blas_core("Prescott", Vectors::kOlder), std::nullopt);
  EXPECT_EQ(better_blas_core("Haswell", Vectors::kAvx512), std::nullopt);  // may be a decision
  EXPECT_EQ(better_blas_core("Zen", Vectors::kAvx2), std::nullopt);
  EXPECT_EQ(better_blas_core("Cooperlake", Vectors::kAvx512), std::nullopt);
  EXPECT_EQ(better_blas_core("neoversen1", Vectors::kOlder), std::nullopt);
  EXPECT_EQ(better_blas_core("", Vectors::kAvx512), std::nullopt);  // not OpenBLAS
  EXPECT_EQ(better_blas_core("OfTheFuture", Vectors::kAvx512), std::nullopt);
}

}  // namespace

}  // namespace trainer::run
