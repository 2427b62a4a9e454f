// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "trainer/base/text/json.h"

#include "support/program_test.h"

namespace trainer {
namespace {

namespace fs = std::filesystem;

class DoctorTest : public test::ProgramTest {
 protected:
  static Json finding(const Json& report, const std::string& name) {
    for (const Json& one : report["findings"]) {
      if (one["name"] == name) return one;
    }
    return Json::object();
  }
};

TEST_F(DoctorTest, SaysLineByLineHowTheMachineIs) {
  const test::ProcessResult result = trainer("doctor");
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  EXPECT_EQ(result.err, "");
  for (const char* line : {"machine\n", "\n  good     peak        ", "\n  good     memory      ",
                           "\n  good     run folder  runs: can be written, ",
                           "\n  good     LibTorch    ", "\n  good     cpu         a small step "}) {
    EXPECT_NE(result.out.find(line), std::string::npos) << line << result.out;
  }
  EXPECT_EQ(result.out.find('\x1b'), std::string::npos);
  EXPECT_TRUE(fs::is_empty(folder_.path()));
}

TEST_F(DoctorTest, WritesJsonForBugReports) {
  const test::ProcessResult result = trainer("doctor --json", "OMP_NUM_THREADS=1");
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  const Json report = parse_json(result.out);
  EXPECT_EQ(report["schema_version"], 1);
  EXPECT_NE(report["status"], "problem");
  EXPECT_EQ(finding(report, "threads")["text"].get<std::string>().find("OMP_NUM_THREADS=1"), 0U);
  EXPECT_EQ(report["environment"]["OMP_NUM_THREADS"], "1");
  EXPECT_FALSE(report["system"]["host"]["cpu"].get<std::string>().empty());
  EXPECT_GT(report["cpu"]["flops_per_second"], 0);
  const Json& cpu = report["libtorch"]["devices"][0];
  EXPECT_EQ(cpu["name"], "cpu");
  EXPECT_GT(cpu["step_seconds"], 0);
  EXPECT_LT(cpu["difference"], 1e-4);
}

TEST_F(DoctorTest, FailsWhereNoRunCanBeWritten) {
  folder_.write("taken", "text");
  const test::ProcessResult result = trainer("doctor --run-dir taken");
  EXPECT_EQ(result.exit_code, 1) << result.out;
  EXPECT_NE(result.out.find("  problem  run folder  taken: "), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("\n1 problem, "), std::string::npos) << result.out;
}

TEST_F(DoctorTest, FailsWithoutTheLibraryOfLibTorchAndSaysTheRest) {
  const test::ProcessResult result =
      test::run_process(test::copy_without_engine(folder_.path()) + " doctor --json");
  EXPECT_EQ(result.exit_code, 1) << result.out << result.err;
  const Json report = parse_json(result.out);
  EXPECT_EQ(report["status"], "problem");
  EXPECT_EQ(finding(report, "LibTorch")["text"].get<std::string>().find("this needs libtrainer_"),
            0U);
  EXPECT_EQ(finding(report, "LibTorch")["advice"],
            "nothing can be trained; predict, eval and export of trained models still work");
  EXPECT_EQ(finding(report, "memory")["status"], "good");
  EXPECT_EQ(finding(report, "ONNX")["text"],
            "this program has no support for it (only needed for trainer export to .onnx)");
}

TEST_F(DoctorTest, RefusesSettingsOfRuns) {
  const test::ProcessResult result = trainer("doctor training.epochs=3");
  EXPECT_EQ(result.exit_code, 2) << result.out;
  EXPECT_NE(result.err.find("training.epochs"), std::string::npos) << result.err;
}

}  // namespace
}  // namespace trainer
