// SPDX-License-Identifier: Apache-2.0
// Ensembles: trained, evaluated, applied and exported by the program.
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "trainer/base/text/json.h"

#include "support/files.h"
#include "support/process.h"
#include "support/program_test.h"
#include "support/trainer_program.h"

namespace trainer {
namespace {

namespace fs = std::filesystem;
using test::kSource;
using test::ProcessResult;

class EnsembleProgramTest : public test::ProgramTest {
 protected:
  ProcessResult ensemble(const std::string& config, const std::string& more = "") {
    return trainer("ensemble " + test::with_config(config) + more);
  }

  /// The last column of a table of predictions.
  std::vector<double> last_column(const std::string& model) const {
    const ProcessResult result =
        trainer("predict " + model + " --data " + (kSource / "configs/data/auto_mpg.csv").string());
    EXPECT_EQ(result.exit_code, 0) << result.err;
    std::vector<double> numbers;
    std::istringstream lines(result.out);
    std::string line;
    std::getline(lines, line);
    while (std::getline(lines, line))
      numbers.push_back(std::stod(line.substr(line.rfind(',') + 1)));
    return numbers;
  }

  void expect_mean_of(const std::vector<fs::path>& members) const {
    std::vector<double> sum;
    for (const fs::path& member : members) {
      const std::vector<double> numbers = last_column(member.string());
      sum.resize(numbers.size());
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += numbers[i];
    }
    const auto count = static_cast<double>(members.size());
    const std::vector<double> together = last_column("runs/latest");
    ASSERT_EQ(together.size(), sum.size());
    for (std::size_t i = 0; i < sum.size(); ++i) EXPECT_NEAR(together[i], sum[i] / count, 1e-3);
  }

  std::vector<fs::path> member_folders() const {
    std::vector<fs::path> folders;
    const fs::path folder = folder_.path() / "runs/latest";
    const Json file = parse_json(test::read_file(folder / "ensemble.json"));
    for (const Json& run : file["runs"]) folders.push_back(folder / run.get<std::string>());
    return folders;
  }
};

TEST_F(EnsembleProgramTest, PredictsTheMeanOfItsMembers) {
  const ProcessResult trained = ensemble("auto_mpg.yaml", "--members 3 --epochs 12");
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  EXPECT_NE(trained.err.find("member 3/3  validation loss "), std::string::npos) << trained.err;
  EXPECT_TRUE(
      trained.out.starts_with("metric  mean of its members  ensemble (test)  baseline\nMAE  "))
      << trained.out;
  const std::vector<fs::path> members = member_folders();
  ASSERT_EQ(members.size(), 3U);
  expect_mean_of(members);

  const Json summary = parse_json(test::read_file(folder_.path() / "runs/latest/summary.json"));
  EXPECT_EQ(summary["members"].size(), 3U);
  const Json eval = parse_json(trainer("eval runs/latest --json").out);
  EXPECT_EQ(eval["rmse"], summary["test"]["rmse"]);
  EXPECT_EQ(eval["members"], 3);
  const ProcessResult inspected = trainer("inspect runs/latest");
  EXPECT_NE(inspected.out.find("ensemble    3 members, whose predictions are averaged\n"),
            std::string::npos)
      << inspected.out;
  EXPECT_EQ(parse_json(trainer("inspect runs/latest --json").out)["members"].size(), 3U);
  for (const char* file : {"m.safetensors", "m.pt"}) {
    const ProcessResult result = trainer(std::string("export runs/latest -o ") + file);
    EXPECT_EQ(result.exit_code, 0) << result.err;
  }
}

TEST_F(EnsembleProgramTest, AConfigurationWithMembersTrainsAnEnsemble) {
  const std::string config = test::with_config("penguins.yaml") + "data.test_fraction=0 ";
  const ProcessResult trained = trainer(config + "members=3 --epochs 4");
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  EXPECT_TRUE(trained.out.starts_with("metric             out of fold  baseline\n")) << trained.out;
  EXPECT_EQ(member_folders().size(), 3U);
  const fs::path folder = fs::canonical(folder_.path() / "runs/latest");
  const Json before = parse_json(test::read_file(folder / "summary.json"));
  EXPECT_EQ(before["out_of_fold"]["rows"], 344);
  EXPECT_EQ(parse_json(trainer("eval runs/latest --json").out)["log_loss"],
            before["out_of_fold"]["log_loss"]);
  // A resume of its folder trains the member that is missing.
  fs::remove_all(member_folders().back());
  const ProcessResult resumed = trainer("--resume " + folder.string() + " --json");
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_EQ(parse_json(resumed.out)["out_of_fold"], before["out_of_fold"]);
  EXPECT_EQ(trainer(config + "members=3 --timing").err,
            "error: --timing and --trace measure one model; add members=1 to train one\n");
  folder_.write("several.yaml",
                test::read_file(kSource / "configs/penguins.yaml") + "members: 2\n");
  EXPECT_EQ(trainer("--config /dev/stdin", "cat several.yaml |").err,
            "error: members: expected 1 for a single run, got 2; train an ensemble from a "
            "configuration in a file, not a pipe, and without --resume of a run\n");
}

// Each process trains whole members, so that their number changes nothing.
TEST_F(EnsembleProgramTest, AnyNumberOfProcessesTrainsTheSameMembers) {
  std::vector<std::string> results;
  for (const int processes : {1, 2, 3}) {
    const ProcessResult trained =
        trainer(test::with_config("penguins.yaml") +
                "members=3 --epochs 4 processes=" + std::to_string(processes) + " output_dir=p" +
                std::to_string(processes) + " --json");
    ASSERT_EQ(trained.exit_code, 0) << trained.err;
    results.push_back(parse_json(trained.out)["test"].dump());
  }
  EXPECT_EQ(results[1], results[0]);
  EXPECT_EQ(results[2], results[0]);
}

TEST_F(EnsembleProgramTest, AClassWithOneRowIsLearntByAllMembers) {
  std::string rows = "x,y\n";
  for (int i = 0; i < 60; ++i) rows += std::to_string(i * i % 7) + (i % 2 == 0 ? ",a\n" : ",b\n");
  folder_.write("t.csv", rows + "3,rare\n");
  const ProcessResult trained = trainer(
      "data.source=csv data.path=t.csv data.target=y members=3 data.test_fraction=0 --epochs 1");
  EXPECT_EQ(trained.exit_code, 0) << trained.err;
}

// With the preprocessing of the first recipe, and each with its own network and training.
TEST_F(EnsembleProgramTest, MembersCanHaveDifferentRecipes) {
  const ProcessResult trained = ensemble(
      "auto_mpg.yaml", "--members 3 --recipes realmlp,tabm training.epochs=4 data.embed_above=3");
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  const std::vector<fs::path> members = member_folders();
  ASSERT_EQ(members.size(), 3U);
  expect_mean_of(members);

  const std::string config = test::read_file(members[1] / "config_resolved.yaml");
  for (const std::string line :
       {"\nrecipe: tabm  ", "\n  scaling: robust  ", "\n  smooth_clip: 3  ",
        "\n  ensemble_size: 4  ", "\n  embed_above: 3  "}) {
    EXPECT_NE(("\n" + config).find(line), std::string::npos) << line << config;
  }
  const ProcessResult inspected = trainer("inspect runs/latest");
  for (const char* line : {"model       members 1, 3: ", "\n            member 2: ",
                           "\ntraining    members 1, 3: adamw, learning rate 0.005 (coslog)",
                           "\n            member 2: adamw, learning rate 0.005 (constant)"}) {
    EXPECT_NE(inspected.out.find(line), std::string::npos) << line << inspected.out;
  }
  const Json json = parse_json(trainer("inspect runs/latest --json").out);
  EXPECT_FALSE(json.contains("model"));
  EXPECT_EQ(json["members"][1]["model"]["activation"], "relu");
  EXPECT_EQ(json["members"][2]["model"]["activation"], "mish");
  for (const char* file : {"m.safetensors", "m.pt"}) {
    const ProcessResult result = trainer(std::string("export runs/latest -o ") + file);
    EXPECT_EQ(result.exit_code, 0) << result.err;
  }
}

TEST_F(EnsembleProgramTest, AResumeTrainsMissingMembersWithTheirRecipe) {
  ASSERT_EQ(ensemble("penguins.yaml",
                     "--members 2 --recipes realmlp,tabm training.epochs=3 "
                     "training.batch_size=null training.learning_rate=null")
                .exit_code,
            0);
  const fs::path folder = fs::canonical(folder_.path() / "runs/latest");
  const std::string before = test::read_file(folder / "summary.json");
  fs::remove_all(member_folders().back());
  const ProcessResult resumed = trainer("ensemble --resume " + folder.string());
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  const Json one = parse_json(before);
  const Json other = parse_json(test::read_file(folder / "summary.json"));
  EXPECT_EQ(one["test"], other["test"]);
  EXPECT_EQ(one["members"][1]["best"], other["members"][1]["best"]);
}

TEST_F(EnsembleProgramTest, ResumeAutoGoesOnWithTheSameOrStartsANewOne) {
  const std::string arguments = "-q --members 2 --epochs 1 --resume auto";
  ASSERT_EQ(ensemble("penguins.yaml", arguments).exit_code, 0);
  const fs::path folder = fs::canonical(folder_.path() / "runs/latest");
  fs::remove_all(member_folders().back());
  ASSERT_EQ(ensemble("penguins.yaml", arguments).exit_code, 0);
  EXPECT_EQ(fs::canonical(folder_.path() / "runs/latest"), folder);
  EXPECT_EQ(member_folders().size(), 2U);
  ASSERT_EQ(ensemble("penguins.yaml", "-q --members 3 --epochs 1 --resume auto").exit_code, 0);
  EXPECT_NE(fs::canonical(folder_.path() / "runs/latest"), folder);
}

TEST_F(EnsembleProgramTest, AnIncompleteOneSaysHowToCompleteIt) {
  ASSERT_EQ(ensemble("auto_mpg.yaml", "--members 2 --epochs 1").exit_code, 0);
  const fs::path folder = fs::canonical(folder_.path() / "runs/latest");
  const fs::path last = fs::canonical(member_folders().back());
  folder_.write((folder / "ensemble.json").string(), R"({"members": 2, "runs": ["x"]})");
  const ProcessResult refused = trainer("eval " + folder.string());
  EXPECT_EQ(refused.exit_code, 7);
  EXPECT_EQ(refused.err, "error: " + (folder / "ensemble.json").string() +
                             ": only 1 of 2 members are trained; to train the others, resume it "
                             "with the command that began it and --resume " +
                             folder.string() + "\n");
  fs::remove_all(last);
  const ProcessResult resumed = trainer("ensemble --resume " + folder.string());
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_EQ(trainer("eval " + folder.string()).exit_code, 0);
}

TEST_F(EnsembleProgramTest, TheLinkToTheNewestRunIsStillOneAfterItWasResumedByTheLink) {
  ASSERT_EQ(ensemble("penguins.yaml", "-q --members 2 --epochs 1").exit_code, 0);
  const fs::path folder = fs::canonical(path("runs/latest"));
  const ProcessResult result = trainer("ensemble -q --resume runs/latest");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(fs::canonical(path("runs/latest")), folder);
}

TEST_F(EnsembleProgramTest, WithoutATestSplitMembersJudgeTheRowsTheyValidatedOn) {
  const ProcessResult trained =
      ensemble("penguins.yaml", "-q --members 3 --epochs 2 data.test_fraction=0");
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  const Json eval = parse_json(trainer("eval --json").out);
  EXPECT_EQ(eval["split"], "out_of_fold");
  EXPECT_EQ(eval["rows"], 344);
  double num_right = 0;
  for (const fs::path& member : member_folders()) {
    const Json split = parse_json(test::read_file(member / "summary.json"))["validation"];
    num_right += split["accuracy"].get<double>() * split["rows"].get<double>();
  }
  EXPECT_NEAR(eval["accuracy"].get<double>(), num_right / 344, 1e-9);
  EXPECT_NE(trainer("eval").out.find("\ndata        the out-of-fold rows of the run: 344 rows\n"),
            std::string::npos);
  EXPECT_EQ(parse_json(trainer("explain --json").out)["score"], eval["loss"]);
  EXPECT_EQ(trainer("explain --rows 50").exit_code, 0);
}

TEST_F(EnsembleProgramTest, RecipesAreNames) {
  const ProcessResult result = ensemble("auto_mpg.yaml", "--recipes realmlp,,tabm");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.err,
            "error: --recipes: expected names of plain, realmlp, tabm or linear, separated by "
            "commas; got "
            "\"\"\n");
}

TEST_F(EnsembleProgramTest, OneMemberIsNone) {
  const ProcessResult result = ensemble("auto_mpg.yaml", "--members 1");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.err, "error: --members: expected an integer >= 2, got \"1\"\n");
}

}  // namespace
}  // namespace trainer
