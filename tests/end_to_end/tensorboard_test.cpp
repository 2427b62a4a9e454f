// SPDX-License-Identifier: Apache-2.0
// Event files of runs, as TensorBoard's readers understand them.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "trainer/base/text/json.h"

#include "support/metrics_records.h"
#include "support/node.h"
#include "support/program_test.h"

namespace trainer {
namespace {

namespace fs = std::filesystem;

class TensorboardTest : public test::ProgramTest {
 protected:
  static test::ProcessResult node(const std::string& arguments) {
    return test::run_node("read_events.js", arguments);
  }
  std::vector<fs::path> files() const {
    std::vector<fs::path> files;
    for (const auto& file : fs::directory_iterator(folder_.path() / "runs/latest/tensorboard")) {
      files.push_back(file.path());
    }
    std::sort(files.begin(), files.end());
    return files;
  }
  /// The events of all files, one after the other.
  Json events() const {
    std::string names;
    for (const fs::path& file : files()) names += " " + file.string();
    const test::ProcessResult result = node(names);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return parse_json(result.out);
  }
  static std::vector<Json> values(const Json& events, const std::string& tag) {
    std::vector<Json> found;
    for (const Json& event : events) {
      if (!event.contains("summary")) continue;
      for (Json value : event["summary"]["value"]) {
        if (value["tag"] != tag) continue;
        value["step"] = event.value("step", 0);
        found.push_back(value);
      }
    }
    return found;
  }
};

#define SKIP_WITHOUT_READERS()                                                      \
  if (node("probe").exit_code != 0) {                                               \
    GTEST_SKIP() << "needs node, tfrecord-stream and protobufjs (scripts/setup.sh " \
                    "test with TRAINER_REQUIRE_ALL=1)";                             \
  }

const std::string kEventsRun =
    "-q threads=1 model.hidden_sizes=[8] data.synthetic.num_samples=200 ";

TEST_F(TensorboardTest, HasTheNumbersOfTheRecords) {
  SKIP_WITHOUT_READERS();
  ASSERT_EQ(trainer(kEventsRun + "--epochs 3 --lr 0.01 logging.tensorboard=true").exit_code, 0);
  const Json all = events();
  EXPECT_EQ(all[0]["file_version"], "brain.Event:2");
  std::vector<Json> losses = values(all, "loss/validation");
  std::size_t count = 0;
  for (const Json& record : test::metrics_records(folder_.path() / "runs/latest/metrics.jsonl")) {
    if (record["split"] != "validation") continue;
    ASSERT_LT(count, losses.size());
    EXPECT_EQ(losses[count]["step"], record["step"]);
    EXPECT_FLOAT_EQ(losses[count]["simple_value"].get<float>(), record["loss"].get<float>());
    ++count;
  }
  EXPECT_EQ(count, 3U);
  EXPECT_EQ(values(all, "learning_rate").size(), 3U);
  const std::vector<Json> weights = values(all, "layers.0.weight");
  ASSERT_EQ(weights.size(), 3U);
  double buckets = 0;
  for (const Json& n : weights[0]["histo"]["bucket"]) buckets += n.get<double>();
  EXPECT_EQ(buckets, weights[0]["histo"]["num"].get<double>());
  const Json hparams = values(all, "_hparams_/session_start_info")[0]["hparams"];
  EXPECT_EQ(hparams["training.learning_rate"]["number_value"], 0.01);
  EXPECT_EQ(hparams["model.hidden_sizes"]["string_value"], "[8]");
}

// Readers forget what was written after the resumed checkpoint.
TEST_F(TensorboardTest, AResumedRunBeginsWhereItsCheckpointIs) {
  SKIP_WITHOUT_READERS();
  const std::string arguments =
      kEventsRun + "logging.tensorboard=true training.schedule.name=constant ";
  ASSERT_EQ(trainer(arguments + "--epochs 4").exit_code, 0);
  ASSERT_EQ(trainer("-q --resume runs/latest/checkpoints/checkpoint_epoch_002.pt").exit_code, 0);
  ASSERT_EQ(files().size(), 2U);
  const auto records = test::metrics_records(folder_.path() / "runs/latest/metrics.jsonl");
  const auto second =
      std::find_if(records.begin(), records.end(), [](const Json& r) { return r["epoch"] == 2; });
  for (const Json& event : events()) {
    if (!event.contains("session_log")) continue;
    EXPECT_EQ(event["session_log"]["status"], 1);
    EXPECT_EQ(event["step"], (*second)["step"].get<int>() + 1);
    return;
  }
  ADD_FAILURE() << "no session log";
}

// All histograms of gradients together have the norm that the record of the step has, as clipped.
TEST_F(TensorboardTest, HasHistogramsOfGradientsAsTheUpdateUsedThem) {
  SKIP_WITHOUT_READERS();
  for (const char* step : {"auto", "autograd"}) {
    const std::string arguments = fmt::format(
        "--epochs 1 training.step={} training.gradient_clip_norm=0.5 training.batch_size=32 "
        "logging.tensorboard=true logging.histogram_interval=2 logging.save_interval=1",
        step);
    ASSERT_EQ(trainer(kEventsRun + arguments).exit_code, 0);
    const Json all = events();
    EXPECT_EQ(values(all, "layers.0.weight").size(), 2U);  // of five steps
    std::vector<double> squares(2);
    for (const char* name :
         {"layers.0.weight", "layers.0.bias", "layers.1.weight", "layers.1.bias"}) {
      const std::vector<Json> found = values(all, std::string("gradients/") + name);
      ASSERT_EQ(found.size(), 2U) << name;
      for (std::size_t i = 0; i < 2; ++i) {
        squares[i] += found[i]["histo"]["sum_squares"].get<double>();
      }
    }
    const std::vector<Json> norms = values(all, "grad_norm");
    ASSERT_EQ(norms.size(), 5U);
    for (std::size_t i = 0; i < 2; ++i) {
      const Json& norm = norms[2 * i + 1];
      EXPECT_EQ(norm["step"], 2 * (i + 1));
      EXPECT_GT(norm["simple_value"].get<double>(), 0.5);
      EXPECT_NEAR(std::sqrt(squares[i]), 0.5, 1e-5) << step;
    }
  }
}

TEST_F(TensorboardTest, HasTheConfusionMatrixOfEachBestEpochAndOfTheTest) {
  SKIP_WITHOUT_READERS();
  ASSERT_EQ(trainer(kEventsRun + "--epochs 3 --lr 0.01 logging.tensorboard=true "
                                 "data.synthetic.num_classes=3 training.schedule.name=constant")
                .exit_code,
            0);
  const Json all = events();
  const std::vector<Json> images = values(all, "confusion_matrix/validation");
  ASSERT_EQ(images.size(), 3U);
  const Json& image = images[0]["image"];
  EXPECT_EQ(image["width"], 4 * 36);
  EXPECT_EQ(image["height"], 4 * 36);
  EXPECT_EQ(image["pixels"], 4 * 36 * (1 + 3 * 4 * 36));
  EXPECT_EQ(values(all, "confusion_matrix/test").size(), 1U);
  EXPECT_EQ(values(all, "confusion_matrix/test/labels")[0]["text"],
            "| class | label |\n|---|---|\n| 0 | 0 |\n| 1 | 1 |\n| 2 | 2 |\n");
}

TEST_F(TensorboardTest, IsOnlyThereIfAskedFor) {
  ASSERT_EQ(trainer(kEventsRun + "--epochs 1").exit_code, 0);
  EXPECT_FALSE(fs::exists(folder_.path() / "runs/latest/tensorboard"));
  EXPECT_FALSE(fs::exists(folder_.path() / "runs/latest/report.html"));
  ASSERT_EQ(trainer(kEventsRun + "--epochs 1 logging.report=true").exit_code, 0);
  EXPECT_TRUE(fs::exists(folder_.path() / "runs/latest/report.html"));
}

}  // namespace
}  // namespace trainer
