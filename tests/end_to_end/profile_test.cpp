// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <filesystem>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "trainer/base/text/json.h"

#include "support/files.h"
#include "support/metrics_records.h"
#include "support/program_test.h"

namespace trainer {
namespace {

namespace fs = std::filesystem;

const std::string kModel =
    " threads=2 model.hidden_sizes=[32,16] data.synthetic.num_samples=400 "
    "training.batch_size=20 ";

class ProfileCommandTest : public test::ProgramTest {
 protected:
  Json profile(const std::string& arguments) const {
    const test::ProcessResult result = trainer("profile --json --steps 25" + kModel + arguments);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return parse_json(result.out);
  }
  static double sum_of(const Json& rows, const char* key) {
    double sum = 0;
    for (const Json& row : rows) {
      if (!row.contains("layer")) sum += row[key].get<double>();
    }
    return sum;
  }
  static std::set<std::string> names(const Json& rows, const char* key) {
    std::set<std::string> names;
    for (const Json& row : rows) names.insert(row[key].get<std::string>());
    return names;
  }
};

TEST_F(ProfileCommandTest, TellsWhereTheTimeGoesAndLeavesNoFiles) {
  const Json json = profile("");
  EXPECT_EQ(json["steps"], 25);
  EXPECT_EQ(json["rows"], 25 * 20);
  EXPECT_EQ(json["threads"], 2);
  EXPECT_NEAR(sum_of(json["stages"], "seconds"), json["seconds"].get<double>(), 1e-6);
  EXPECT_NEAR(sum_of(json["work"], "seconds") + json["waiting_seconds"].get<double>(),
              json["step_seconds"].get<double>(), 1e-6);
  for (const char* stage : {"load LibTorch", "read", "split", "prepare", "thread trials",
                            "unmeasured steps", "steps", "evaluate", "checkpoints"}) {
    EXPECT_EQ(names(json["stages"], "stage").count(stage), 1U) << stage;
  }
  EXPECT_EQ(names(json["work"], "work"),
            (std::set<std::string>{"gather", "forward", "loss", "input gradient", "weight gradient",
                                   "gradient norm", "update"}));
  for (const Json& work : json["work"]) {
    if (!work.contains("layer") || work["work"] != "forward") continue;
    EXPECT_GT(work["gflops_per_second"], 0) << work;
    EXPECT_GT(work["of_peak"], 0) << work;
  }
  const Json& memory = json["memory_bytes"];
  EXPECT_GE(memory["parameters"].get<int64_t>(), 4 * json["parameters"].get<int64_t>());
  EXPECT_EQ(memory["moments"].get<int64_t>(), 2 * memory["gradients"].get<int64_t>());
  EXPECT_GT(memory["activations"].get<int64_t>(), 20 * (32 + 16) * 4);
  EXPECT_TRUE(fs::is_empty(folder_.path()));
}

TEST_F(ProfileCommandTest, MeasuresAutogradToo) {
  const Json json = profile("training.step=autograd");
  EXPECT_EQ(json["step"], "autograd");
  EXPECT_EQ(
      names(json["work"], "work"),
      (std::set<std::string>{"gather", "forward", "loss", "backward", "gradient norm", "update"}));
  EXPECT_TRUE(json["memory_bytes"]["activations"].is_null());
}

TEST_F(ProfileCommandTest, WritesATraceOfAllThreads) {
  const fs::path file = path("trace.json");
  profile("model.norm=batch --trace " + file.string());
  const Json trace = parse_json(test::read_file(file));
  std::set<std::string> spans;
  std::set<int> threads;
  for (const Json& event : trace["traceEvents"]) {
    if (event["ph"] != "X") continue;
    spans.insert(event["name"].get<std::string>());
    threads.insert(event["tid"].get<int>());
    EXPECT_GE(event["dur"].get<double>(), 0);
  }
  for (const char* name : {"read", "steps", "forward layers.0", "weight gradient layers.1"}) {
    EXPECT_EQ(spans.count(name), 1U) << name;
  }
  EXPECT_GE(threads.size(), 2U);
}

TEST_F(ProfileCommandTest, ShowsATable) {
  const test::ProcessResult result = trainer("profile --steps 10" + kModel);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  for (const char* text :
       {"\nstage ", "\na step ", "\n  layers.0 ", "\nmemory ", "\nA step takes "}) {
    EXPECT_NE(result.out.find(text), std::string::npos) << text << "\n" << result.out;
  }
}

TEST_F(ProfileCommandTest, RefusesWhatItCannotDo) {
  const test::ProcessResult no_steps = trainer("profile --steps 0" + kModel);
  EXPECT_EQ(no_steps.exit_code, 2);
  EXPECT_EQ(no_steps.err, "error: --steps: expected an integer >= 1, got \"0\"\n");
  const test::ProcessResult no_folder =
      trainer("profile --steps 5 --trace nowhere/trace.json" + kModel);
  EXPECT_EQ(no_folder.exit_code, 8);
  EXPECT_EQ(no_folder.err,
            "error: --trace nowhere/trace.json: there is no folder nowhere; create it, or name "
            "another file\n");
  const test::ProcessResult resumed = trainer("profile --resume runs/latest");
  EXPECT_EQ(resumed.exit_code, 2);
  EXPECT_EQ(resumed.err, "error: --resume is not supported by profile\n");
}

TEST_F(ProfileCommandTest, ATimedRunEndsWithTheSameBits) {
  const std::string run = "-q --epochs 2 model.dropout=0.1" + kModel;
  ASSERT_EQ(trainer(run + "output_dir=plain").exit_code, 0);
  const test::ProcessResult timed = trainer(run + "output_dir=timed --timing --trace t.json");
  ASSERT_EQ(timed.exit_code, 0) << timed.err;
  EXPECT_NE(timed.out.find("\na step "), std::string::npos) << timed.out;
  EXPECT_EQ(test::timeless_lines(path("plain/latest/metrics.jsonl")),
            test::timeless_lines(path("timed/latest/metrics.jsonl")));
  const Json json = parse_json(test::read_file(path("timed/latest/timing.json")));
  EXPECT_EQ(json["steps"], 32);
  EXPECT_EQ(json["rows"], 2 * 320);
  EXPECT_FALSE(fs::exists(path("plain/latest/timing.json")));
  EXPECT_TRUE(fs::exists(path("t.json")));
}

TEST_F(ProfileCommandTest, TimesOfAJsonRunAreOnStandardError) {
  const test::ProcessResult result = trainer("-q --epochs 1 --json --timing" + kModel);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(parse_json(result.out).contains("run_folder"));
  EXPECT_NE(result.err.find("\na step "), std::string::npos) << result.err;
}

}  // namespace
}  // namespace trainer
