// SPDX-License-Identifier: Apache-2.0
// `trainer search`: configurations that are tried, and the ensemble that is made of them.
#include <signal.h>

#include <cmath>
#include <filesystem>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "trainer/base/text/json.h"

#include "support/comes_true.h"
#include "support/error_of.h"
#include "support/files.h"
#include "support/process.h"
#include "support/processes.h"
#include "support/program_test.h"
#include "support/running_program.h"

namespace trainer {
namespace {

namespace fs = std::filesystem;
using test::ProcessResult;

/// y = |x| + noise, which a linear model cannot learn.
std::string bent_table() {
  std::string text = "x,z,y\n";
  for (int i = 0; i < 300; ++i) {
    const double x = (i * 37 % 101) / 10.0 - 5;
    text += fmt::format("{},{},{:.3f}\n", x, i % 7, std::abs(x) + (i * 7919 % 13) / 20.0);
  }
  return text;
}

class SearchTest : public test::ProgramTest {
 protected:
  SearchTest() {
    folder_.write("t.csv", bent_table());
    folder_.write("c.yaml",
                  "data: {source: csv, path: t.csv, target: y, test_fraction: 0}\n"
                  "training: {epochs: 6, learning_rate: 1e-4}\nthreads: 1\n");
  }

  ProcessResult search(const std::string& arguments) const {
    return trainer("search --config c.yaml --folds 3 " + arguments);
  }

  Json found() const { return parse_json(test::read_file(path("runs/latest/search.json"))); }

  // The trials of a search, without what another one of the same trials finds otherwise.
  Json trials_in(const std::string& search) const {
    Json trials = parse_json(test::read_file(path(search + "/search.json")))["trials"];
    for (Json& trial : trials) {
      trial.erase("runs");
      trial.erase("time_seconds");
    }
    return trials;
  }

  static constexpr const char* kSpace =
      "'training.learning_rate=log(1e-3,3e-2)' 'model.hidden_size=choice(8,32)' ";
};

TEST_F(SearchTest, MakesOneModelOfTheBestConfigurations) {
  const ProcessResult result = search(std::string(kSpace) + "--trials 5 --json");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const Json json = parse_json(result.out);
  EXPECT_EQ(json["metric"], "RMSE");
  ASSERT_EQ(json["trials"].size(), 5U);
  for (std::size_t i = 1; i < 5; ++i) {  // the best one first, those without a loss last
    const Json& before = json["trials"][i - 1]["loss"];
    const Json& loss = json["trials"][i]["loss"];
    EXPECT_TRUE(loss.is_null() || before <= loss) << result.out;
  }
  EXPECT_LE(json["loss"], json["trials"][0]["loss"]);
  EXPECT_GE(json["expected_loss"], json["loss"].get<double>() - 1e-9);
  double sum = 0;
  for (const Json& trial : json["trials"]) {
    sum += trial["weight"].get<double>();
    if (trial["trial"] == 1) {
      EXPECT_EQ(trial["settings"].size(), 0U);
    } else {
      EXPECT_EQ(trial["settings"].size(), 2U);
    }
  }
  EXPECT_NEAR(sum, 1, 1e-9);
  // Only the best epochs of complete trials are kept, for there are many.
  for (const Json& trial : found()["trials"]) {
    const std::vector<std::string> best = {"best.pt"};
    for (const Json& run : trial["runs"]) {
      EXPECT_EQ(test::file_names(path("runs/latest/" + run.get<std::string>() + "/checkpoints")),
                trial["loss"].is_null() ? std::vector<std::string>() : best);
    }
  }
  // The rows of a fold are predicted by the members of that fold, by their weights.
  const Json evaluation = parse_json(trainer("eval --json").out);
  EXPECT_EQ(evaluation["split"], "out_of_fold");
  const double deviation = evaluation["baseline"]["rmse"];
  EXPECT_NEAR(evaluation["rmse"].get<double>() / deviation, json["loss"], 0.01);
  for (const char* command :
       {"predict t.csv -o p.csv", "predict t.csv --interval 0.9 -o p.csv", "inspect", "report",
        "explain", "explain --row 3", "export -o m.pt", "export -o m.safetensors"}) {
    const ProcessResult done = trainer(command);
    EXPECT_EQ(done.exit_code, 0) << command << done.err;
  }
}

// What a kill leaves is a model, and a resumed search ends as one that was never stopped.
TEST_F(SearchTest, AKilledSearchLeavesAModelAndGoesOnWithTheSameTrials) {
  const std::string arguments = std::string(kSpace) + "--trials 4 ";
  ASSERT_EQ(search(arguments + "--output-dir whole").exit_code, 0);
  test::RunningProgram program(folder_.path(), "search --config c.yaml --folds 3 " + arguments,
                               test::Moments::kPassed);
  EXPECT_TRUE(test::comes_true([&] { return fs::exists(path("runs/latest/ensemble.json")); }));
  program.send(SIGKILL);
  program.finish();
  EXPECT_EQ(trainer("predict t.csv -o p.csv").exit_code, 0);
  const ProcessResult resumed = search(arguments + "--resume auto");
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  const Json expected = trials_in("whole/latest");
  EXPECT_EQ(trials_in("runs/latest"), expected);
  // More trials go on where it ended, without the ranges.
  const ProcessResult more =
      trainer("search --resume runs/latest --trials 5");  // a link, which has to stay right
  EXPECT_EQ(more.exit_code, 0) << more.err;
  EXPECT_EQ(found()["trials"].size(), 5U);
  EXPECT_EQ(found()["trials"][3]["loss"], expected[3]["loss"]);
}

// A time is that of all starts, however they are resumed, so a job that is started again ends.
TEST_F(SearchTest, AResumedSearchHasItsLimitsStill) {
  ASSERT_EQ(search(std::string(kSpace) + "--trials 3 --max-members 3").exit_code, 0);
  const std::string folder = fs::canonical(path("runs/latest")).string();
  const Json first = found();
  EXPECT_EQ(first["limits"], (Json{{"time_seconds", 0.0}, {"trials", 3}, {"members", 3}}));
  const ProcessResult again = trainer("search --resume " + folder);
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_NE(again.err.find("no trial was added: set more --trials, or a --time\n"),
            std::string::npos)
      << again.err;
  EXPECT_EQ(found()["trials"], first["trials"]);
  EXPECT_EQ(found()["limits"], first["limits"]);
  EXPECT_GT(found()["time_seconds"], first["time_seconds"]);
  const ProcessResult over = trainer("search --time 0.1s --resume " + folder);
  EXPECT_NE(over.err.find("no trial was added: 0.1 s are for all starts of the search together; "
                          "set a longer --time, or --trials\n"),
            std::string::npos)
      << over.err;
  const ProcessResult more = trainer("search --trials 4 --resume " + folder);
  EXPECT_EQ(more.exit_code, 0) << more.err;
  EXPECT_EQ(found()["trials"].size(), 4U);
  EXPECT_EQ(found()["limits"], (Json{{"time_seconds", 0.0}, {"trials", 4}, {"members", 3}}));
}

TEST_F(SearchTest, TheModelHasAtMostSoManyNetworks) {
  const ProcessResult few = search(std::string(kSpace) + "--trials 4 --json --max-members 5");
  ASSERT_EQ(few.exit_code, 0) << few.err;
  EXPECT_EQ(parse_json(few.out)["members"], 3);
  EXPECT_EQ(search("--max-members 2").err,
            "error: --max-members: expected at least 3, the folds of one trial, got 2\n");
}

TEST_F(SearchTest, AnyNumberOfProcessesFindsTheSameTrials) {
  const std::string arguments = std::string(kSpace) + "--trials 6 ";
  ASSERT_EQ(search(arguments + "processes=1 --output-dir one").exit_code, 0);
  const Json expected = trials_in("one/latest");
  ASSERT_EQ(expected.size(), 6U);
  ASSERT_EQ(search(arguments + "processes=3 --output-dir three").exit_code, 0);
  EXPECT_EQ(trials_in("three/latest"), expected);
  test::Processes ranks(folder_.path(), 2,
                        "search --config c.yaml --folds 3 --output-dir ranks " + arguments);
  for (const ProcessResult& result : ranks.finish()) EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(trials_in("ranks/latest"), expected);
}

TEST_F(SearchTest, TrialsTakeSeveralRecipesInTurn) {
  const ProcessResult result = search("--recipes plain,realmlp --trials 3 --json");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const std::string folder = fs::canonical(path("runs/latest")).string();
  const ProcessResult more = trainer("search --trials 4 --resume " + folder);
  ASSERT_EQ(more.exit_code, 0) << more.err;
  const Json trials = found()["trials"];
  ASSERT_EQ(trials.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(trials[i]["recipe"], i % 2 == 0 ? "plain" : "realmlp");
    EXPECT_EQ(trials[i]["settings"].empty(), i < 2);
    // Each is tested on the rows of the same folds.
    const fs::path run = fs::path(folder) / trials[i]["runs"][0].get<std::string>();
    const std::string config = test::read_file(run / "config_resolved.yaml");
    EXPECT_NE(config.find("  validation_folds: 3"), std::string::npos) << config;
    EXPECT_EQ(parse_json(test::read_file(run / "summary.json"))["validation"]["rows"], 100);
  }
  EXPECT_EQ(trainer("predict t.csv -o p.csv").exit_code, 0);
  EXPECT_EQ(trainer("search --recipes tabm --resume " + folder).err,
            "error: --recipes: " + folder +
                " was started with plain,realmlp, got tabm; remove this option\n");
}

TEST_F(SearchTest, RowsThatTheConfigurationNamesChooseInPlaceOfFolds) {
  const std::string table = bent_table();
  folder_.write("v.csv", table.substr(0, table.rfind('\n', table.size() / 2) + 1));
  const ProcessResult result = trainer("search --config c.yaml --trials 3 --json " +
                                       std::string(kSpace) + "data.validation_path=v.csv");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  for (const Json& trial : found()["trials"]) EXPECT_EQ(trial["runs"].size(), 1U);
  EXPECT_TRUE(parse_json(result.out).contains("validation")) << result.out;
  EXPECT_EQ(trainer("search --config c.yaml --folds 3 data.validation_path=v.csv").err,
            "error: --folds: expected 1, because the configuration says which rows validate, got "
            "3\n");
  EXPECT_EQ(trainer("search --config c.yaml data.validation_fraction=0").err,
            "error: data.validation_fraction: expected more than 0, by whose rows a search "
            "chooses, got 0; remove the key\n");
}

TEST_F(SearchTest, ATestSplitChoosesNothing) {
  const ProcessResult result =
      trainer("search --config c.yaml --trials 2 --json --folds 1 data.test_fraction=0.2");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const Json json = parse_json(result.out);
  EXPECT_EQ(json["test"]["rows"], 60) << result.out;
  EXPECT_EQ(found()["trials"][0]["runs"].size(), 1U);  // --folds 1: one validation split
  EXPECT_EQ(parse_json(trainer("eval --json").out)["rmse"], json["test"]["rmse"]);
}

// What only numbers have is a default of some recipes, and no mistake for classes.
TEST_F(SearchTest, TrialsOfClassesTakeSeveralRecipesToo) {
  folder_.write("k.csv",
                test::replaced(test::replaced(bent_table(), ",0,", ",a,"), "x,z,y", "x,y,z"));
  const ProcessResult made = trainer("init k.csv --target y -o k.yaml --time 10s");
  ASSERT_EQ(made.exit_code, 0) << made.err;
  const ProcessResult result = trainer(
      "search --config k.yaml data.task=classification --recipes tabm,plain,realmlp "
      "--folds 2 --trials 3 --epochs 1");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(trainer("predict k.csv -o p.csv").exit_code, 0);
  const ProcessResult ensemble = trainer(
      "ensemble --config k.yaml data.task=classification --recipes tabm,plain "
      "--members 2 --epochs 1");
  EXPECT_EQ(ensemble.exit_code, 0) << ensemble.err;
}

TEST_F(SearchTest, ATrialThatFailsIsLeftOut) {
  const ProcessResult result = search(
      "'training.learning_rate=choice(1e30)' --trials 2 training.on_nonfinite=stop "
      "training.gradient_clip_norm=0 training.optimizer.name=sgd --json");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const Json json = parse_json(result.out);
  EXPECT_EQ(json["trials"][1]["loss"], Json());
  EXPECT_NE(json["trials"][1]["problem"].get<std::string>().find("not finite"), std::string::npos);
  EXPECT_EQ(json["members"], 3);
}

TEST_F(SearchTest, TheSpaceOfTheRecipeIsPrinted) {
  const ProcessResult result = search("--print-space recipe=tabm");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.out.find("'training.learning_rate=log("), std::string::npos) << result.out;
  const ProcessResult several =
      search("--print-space --recipes tabm,plain,linear training.epochs=3");
  EXPECT_EQ(several.out,
            "# tabm\n'training.learning_rate=log(5e-4,5e-3)'\n"
            "'training.optimizer.weight_decay=choice(0,3e-4,3e-3,3e-2)'\n"
            "'model.dropout=choice(0,0.1,0.2,0.4)'\n'model.num_layers=int(1,4)'\n"
            "'model.hidden_size=choice(128,256,384)'\n"
            "'model.numeric_embedding_size=choice(8,16,24)'\n'training.epochs=choice(2,3,6,12)'\n"
            "# plain\n'training.learning_rate=log(3e-4,1e-2)'\n"
            "'training.optimizer.weight_decay=log(0.001,0.3)'\n"
            "'model.dropout=choice(0,0.1,0.3)'\n'model.num_layers=int(1,4)'\n"
            "'model.hidden_size=choice(64,128,256)'\n"
            "'model.numeric_embedding=choice(none,piecewise_linear,periodic)'\n"
            "'training.epochs=choice(2,3,6,12)'\n")
      << several.err;
  EXPECT_EQ(search("--print-space 'model.dropout=choice(0,0.1)'").out,
            "'model.dropout=choice(0,0.1)'\n");
  EXPECT_FALSE(fs::exists(path("runs")));
  for (const char* recipe : {"plain", "tabm", "realmlp"}) {
    const ProcessResult one = search(fmt::format("recipe={} --trials 2 --epochs 1", recipe));
    EXPECT_EQ(one.exit_code, 0) << recipe << one.err;
  }
}

TEST_F(SearchTest, MistakesAreNamedBeforeAnythingIsWritten) {
  const auto problem = [&](const std::string& arguments) {
    const ProcessResult result = search(arguments);
    EXPECT_NE(result.exit_code, 0) << arguments;
    return result.err;
  };
  EXPECT_EQ(problem("'model.dropout=uniform(0,2)' --trials 2"),
            "error: search: model.dropout: expected a number >= 0 and < 1, got \"2\"\n");
  EXPECT_EQ(problem("'data.scaling=choice(none,standard)'"),
            "error: data.scaling: only keys of model and training can be searched, because all "
            "members of an ensemble share the rest; give one value, or make a search for each\n");
  EXPECT_EQ(problem("--time soon"),
            "error: --time: expected a time such as 60s, 10m or 2h, got \"soon\"\n");
  EXPECT_EQ(problem("--trials 0"), "error: --trials: expected an integer >= 1, got \"0\"\n");
  EXPECT_FALSE(fs::exists(path("runs")));
  ASSERT_EQ(search("'model.dropout=choice(0,0.1)' --trials 1").exit_code, 0);
  const std::string folder = fs::canonical(path("runs/latest")).string();
  EXPECT_EQ(trainer("search 'model.dropout=choice(0,0.2)' --trials 1 --resume " + folder).err,
            "error: " + folder +
                ": the search was started with another space, {\"model.dropout\":"
                "\"choice(0,0.1)\"}; give no ranges, or start a new search without --resume\n");
  const std::string before = test::read_file(path("runs/latest/search.json"));
  folder_.write("runs/latest/search.json", test::replaced(before, "\"folds\": 3", "\"folds\": 0"));
  const ProcessResult damaged = trainer("search --resume " + folder);
  EXPECT_EQ(damaged.exit_code, 7);
  EXPECT_NE(damaged.err.find("search.json: folds: expected "), std::string::npos) << damaged.err;
  folder_.write("runs/latest/search.json", before);
  EXPECT_EQ(trainer("search --folds 4 --resume " + folder).err,
            "error: --folds: " + folder + " was started with 3, got 4; remove this option\n");
}

}  // namespace
}  // namespace trainer
