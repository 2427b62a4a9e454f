// SPDX-License-Identifier: Apache-2.0
// With a BLAS that takes this CPU for another (support/mistaken_blas.c).
#include <string>

#include <gtest/gtest.h>

#include "trainer/base/parallel/cpus.h"
#include "trainer/base/text/json.h"
#include "trainer/base/version.h"

#include "support/files.h"
#include "support/program_test.h"

namespace trainer {
namespace {

#ifdef MISTAKEN_BLAS_FOLDER
const std::string kLibrary = "LD_LIBRARY_PATH=" MISTAKEN_BLAS_FOLDER " ";
#else
const std::string kLibrary;
#endif

class BlasTest : public test::ProgramTest {
 protected:
  void SetUp() override {
    if (kLibrary.empty() || !build_info().system_blas)
      GTEST_SKIP() << "needs a LibTorch with the OpenBLAS of the system";
    if (!has_avx2()) GTEST_SKIP() << "needs a CPU with AVX2";
  }
  // What the log and system.json say of a run.
  std::string train(const std::string& environment) {
    const test::ProcessResult result =
        trainer("training.epochs=1 data.synthetic.num_samples=100", kLibrary + environment);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    system_ = parse_json(test::read_file(path("runs/latest/system.json")));
    return result.err + test::read_file(path("runs/latest/train.log"));
  }

  Json system_;
};

TEST_F(BlasTest, AMistakenCoreIsCorrectedAndTold) {
  const std::string core = has_avx512() ? "SkylakeX" : "Haswell";
  const std::string log = train("");
  EXPECT_NE(log.find("OpenBLAS takes this CPU for Prescott; OPENBLAS_CORETYPE=" + core +
                     " was set for it"),
            std::string::npos)
      << log;
  EXPECT_EQ(system_["blas"], "OpenBLAS 0.3.21 (OpenMP)");
  EXPECT_EQ(system_["blas_core"], core);
  EXPECT_EQ(system_["blas_core_mistaken"], "Prescott");
}

TEST_F(BlasTest, TheDoctorTellsOfIt) {
  const std::string core = has_avx512() ? "SkylakeX" : "Haswell";
  const test::ProcessResult corrected = trainer("doctor --json", kLibrary);
  EXPECT_NE(corrected.out.find("kernels for " + core + " (it takes this CPU for Prescott; "),
            std::string::npos)
      << corrected.out;
  const test::ProcessResult wanted =
      trainer("doctor --json", kLibrary + "OPENBLAS_CORETYPE=Nehalem");
  EXPECT_NE(wanted.out.find("unset OPENBLAS_CORETYPE"), std::string::npos) << wanted.out;
}

TEST_F(BlasTest, TheCoreThatTheUserWantsIsLeftAlone) {
  const std::string log = train("OPENBLAS_CORETYPE=Nehalem");
  EXPECT_EQ(log.find("OPENBLAS_CORETYPE"), std::string::npos) << log;
  EXPECT_EQ(system_["blas_core"], "Nehalem");
  EXPECT_FALSE(system_.contains("blas_core_mistaken"));
}

}  // namespace
}  // namespace trainer
