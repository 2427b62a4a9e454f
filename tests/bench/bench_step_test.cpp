// SPDX-License-Identifier: Apache-2.0
// The program itself; what it measures is not asserted.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/process.h"

namespace trainer::bench {
namespace {

using testing::HasSubstr;

TEST(BenchStepTest, TimesAStepOfEveryWorkload) {
  const test::ProcessResult result = test::run_process(
      BENCH_STEP_BINARY " --benchmark_min_time=0.000001 '--benchmark_filter=fused/.*threads_1'");

  EXPECT_EQ(result.exit_code, 0) << result.err;
  for (const char* workload :
       {"fused/10-128-128-2/batch_32/", "fused/64-128-128-10/batch_32/",
        "fused/784-256-256-10/batch_128/", "fused/784-1024-1024-10/batch_512/",
        "fused/realmlp_64-256-256-256-10/batch_256/",
        "fused/16_members_64-256-256-10/batch_256/"}) {
    EXPECT_THAT(result.out, HasSubstr(workload));
  }
}

}  // namespace
}  // namespace trainer::bench
