// SPDX-License-Identifier: Apache-2.0
// The program applied to tables that it was not trained on.
#include <signal.h>
#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "trainer/base/text/json.h"
#include "trainer/run/checkpoint/checkpoint.h"

#include "support/files.h"
#include "support/metrics_records.h"
#include "support/process.h"
#include "support/program_test.h"
#include "support/running_program.h"
#include "support/temporary_folder.h"
#include "support/trainer_program.h"

namespace trainer {
namespace {

namespace fs = std::filesystem;
using test::cells_of;
using test::has_temporary_files;
using test::kSource;
using test::read_file;

using Row = std::vector<std::string>;

/// The last record of metrics.jsonl: the test part.
Json test_record(const fs::path& run) {
  return test::metrics_records(run / "metrics.jsonl").back();
}

class PredictEndToEndTest : public test::ProgramTest {
 protected:
  /// Trains on a file of configs/data; every fifth row is the test file.
  void train(const std::string& file, const std::string& more) {
    const auto lines = test::lines_of(read_file(kSource / "configs/data" / file));
    std::string train = lines[0] + "\n";
    std::string test = train;
    for (std::size_t i = 1; i < lines.size(); ++i) {
      (i % 5 == 0 ? test : train) += lines[i] + "\n";
    }
    folder_.write("train.csv", train);
    folder_.write("test.csv", test);
    const test::ProcessResult result = test::trainer_in(
        folder_.path(),
        "data.source=csv data.path=train.csv data.test_path=test.csv threads=1 " + more);
    ASSERT_EQ(result.exit_code, 0) << result.err;
  }

  /// Writes the test file again, with other rows.
  void change_test_rows(const std::function<void(Row&)>& change) {
    if (test_rows_.empty()) test_rows_ = cells_of(read_file(folder_.path() / "test.csv"));
    std::string text = fmt::format("{}\n", fmt::join(test_rows_.front(), ","));
    for (std::size_t i = 1; i < test_rows_.size(); ++i) {
      Row row = test_rows_[i];
      change(row);
      text += fmt::format("{}\n", fmt::join(row, ","));
    }
    folder_.write("test.csv", text);
  }

  test::ProcessResult predict(const std::string& arguments, const std::string& environment = "") {
    return test::trainer_in(folder_.path(), "predict runs/latest " + arguments, environment);
  }

  std::vector<Row> test_rows_;
};

TEST_F(PredictEndToEndTest, PredictsAsTheTrainingEvaluated) {
  train("digits.csv", "data.target=digit --epochs 3");
  const test::ProcessResult result = predict("--data test.csv --output p.csv");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const std::vector<Row> predicted = cells_of(read_file(path("p.csv")));
  const std::vector<Row> truth = cells_of(read_file(path("test.csv")));
  ASSERT_EQ(predicted.size(), truth.size());
  EXPECT_EQ(predicted[0][0], "prediction");
  EXPECT_EQ(predicted[0][1], "p_0");
  const auto label = std::find(truth[0].begin(), truth[0].end(), "digit") - truth[0].begin();
  int64_t num_correct = 0;
  double loss = 0;
  for (std::size_t row = 1; row < truth.size(); ++row) {
    const std::string& wanted = truth[row][static_cast<std::size_t>(label)];
    if (predicted[row][0] == wanted) ++num_correct;
    loss -= std::log(std::stod(predicted[row][1 + static_cast<std::size_t>(std::stoi(wanted))]));
  }
  const auto num_rows = static_cast<double>(truth.size() - 1);
  const Json record = test_record(path("runs/latest"));
  EXPECT_EQ(record["split"], "test");
  EXPECT_DOUBLE_EQ(static_cast<double>(num_correct) / num_rows, record["accuracy"].get<double>());
  EXPECT_NEAR(loss / num_rows, record["loss"].get<double>(), 1e-5);
}

TEST_F(PredictEndToEndTest, PredictsARegressionWithAveragedWeightsAndScaledTargets) {
  train("auto_mpg.csv",
        "data.target=miles_per_gallon data.id=[name] data.target_scaling=standard "
        "training.ema_decay=0.9 "
        "model.norm=batch --epochs 5");
  const test::ProcessResult result = predict("--data test.csv");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const std::vector<Row> predicted = cells_of(result.out);
  const std::vector<Row> truth = cells_of(read_file(path("test.csv")));
  ASSERT_EQ(predicted.size(), truth.size());
  EXPECT_EQ(predicted[0], (Row{"name", "prediction"}));
  const auto column = [&](const char* name) {
    return static_cast<std::size_t>(std::find(truth[0].begin(), truth[0].end(), name) -
                                    truth[0].begin());
  };
  double squares = 0;
  for (std::size_t row = 1; row < truth.size(); ++row) {
    EXPECT_EQ(predicted[row][0], truth[row][column("name")]);
    squares += std::pow(
        std::stod(predicted[row][1]) - std::stod(truth[row][column("miles_per_gallon")]), 2);
  }
  const double scale =
      checkpoint::read(path("runs/latest/checkpoints/best.pt")).schema.target_scaling.scale[0];
  EXPECT_NEAR(squares * scale * scale / static_cast<double>(truth.size() - 1),
              test_record(path("runs/latest"))["loss"].get<double>(), 1e-5);
}

TEST_F(PredictEndToEndTest, PredictsWithEmbeddingsAndQuantiles) {
  train("penguins.csv", "data.target=species data.embed_above=1 data.scaling=quantile --epochs 4");
  const test::ProcessResult result = predict("--data test.csv");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const std::vector<Row> predicted = cells_of(result.out);
  const std::vector<Row> truth = cells_of(read_file(path("test.csv")));
  const auto species = static_cast<std::size_t>(
      std::find(truth[0].begin(), truth[0].end(), "species") - truth[0].begin());
  ASSERT_EQ(predicted.size(), truth.size());
  int64_t num_correct = 0;
  for (std::size_t row = 1; row < truth.size(); ++row) {
    if (predicted[row][0] == truth[row][species]) ++num_correct;
  }
  EXPECT_DOUBLE_EQ(static_cast<double>(num_correct) / static_cast<double>(truth.size() - 1),
                   test_record(path("runs/latest"))["accuracy"].get<double>());
}

TEST_F(PredictEndToEndTest, FileStandardInputAndThreadsGiveTheSameBytes) {
  train("penguins.csv", "data.target=species --epochs 2");
  ASSERT_EQ(predict("--data test.csv --output 1.csv --threads 1").exit_code, 0);
  const std::string expected = read_file(path("1.csv"));
  EXPECT_EQ(predict("--data - --threads 3 <test.csv").out, expected);
  EXPECT_EQ(predict("--data test.csv -o 2.csv threads=2").exit_code, 0);
  EXPECT_EQ(read_file(path("2.csv")), expected);
  EXPECT_EQ(
      test::trainer_in(folder_.path(), "predict runs/latest/checkpoints/best.pt --data test.csv")
          .out,
      expected);
  const test::ProcessResult piped = test::run_process(
      fmt::format("cd {0} && tr , ';' <test.csv | {1} predict runs/latest --data - --delimiter "
                  "semicolon | tr ';' ,",
                  folder_.path().string(), test::kTrainer));
  EXPECT_EQ(piped.out, expected);
  EXPECT_EQ(cells_of(expected)[0], (Row{"prediction", "p_Adelie", "p_Chinstrap", "p_Gentoo"}));
}

TEST_F(PredictEndToEndTest, SaysOnceWhatIsToBeKnown) {
  train("penguins.csv", "data.target=species --epochs 2");
  folder_.write("new.csv",
                "who,island,beak_length_mm,beak_depth_mm,flipper_length_mm,body_mass_g,sex\n"
                "a,Dream,40,18,200,4000,MALE\nb,Elsewhere,41,,201,4100,\n");
  const test::ProcessResult result = predict("--data new.csv --output p.csv");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out, "");
  EXPECT_NE(
      result.err.find("new.csv: ignoring column \"who\" that the training data did not have\n"
                      "warning: column \"island\": 1 row of new.csv has a category that does not "
                      "occur in the training split; treated as unknown (data.unknown_category)\n"
                      "2 rows predicted in "),
      std::string::npos)
      << result.err;
  EXPECT_EQ(predict("--data new.csv --output q.csv --quiet").err.find("warning: "), 0U);
}

TEST_F(PredictEndToEndTest, RowsUnlikeTheTrainingDataAreNamed) {
  train("auto_mpg.csv", "data.target=miles_per_gallon data.ignore=name training.epochs=3");
  const auto check = [&](const std::function<void(Row&)>& change) {
    change_test_rows(change);
    return predict("--data test.csv --check -o out.csv");
  };
  const test::ProcessResult good = check([](Row&) {});
  EXPECT_EQ(good.exit_code, 0) << good.err;
  EXPECT_EQ(good.err.find("unlike"), std::string::npos) << good.err;

  constexpr std::size_t kHorsepower = 3;
  constexpr std::size_t kWeight = 4;
  constexpr std::size_t kYear = 6;
  constexpr std::size_t kOrigin = 7;
  struct Fault {
    std::function<void(Row&)> change;
    const char* column;
    const char* said;
  };
  const std::vector<Fault> faults = {
      {[](Row& row) { row[kWeight] += "000"; }, "weight_lb", "are beyond those in training"},
      {[](Row& row) { row[kWeight] = "0." + row[kWeight]; }, "weight_lb", "are beyond those in"},
      {[](Row& row) { std::swap(row[kWeight], row[kHorsepower]); }, "horsepower", "beyond those"},
      {[](Row& row) { row[kWeight] = ""; }, "weight_lb", "100 % of the cells are missing"},
      {[](Row& row) { row[kWeight] = "0"; }, "weight_lb", "they are 0 to 0"},
      {[](Row& row) { row[kYear] = "19" + row[kYear]; }, "model_year", "beyond those"},
      {[](Row& row) { row[kYear] = "1979"; }, "model_year", "distributed otherwise"},
      {[](Row& row) { row[kOrigin] += "."; }, "origin", "categories that were not in training"},
      {[](Row& row) { row[kOrigin] = "Japan"; }, "origin", "distributed otherwise"},
      {[](Row& row) { row[kHorsepower] = "-1"; }, "horsepower", "they are -1 to -1"}};
  for (const Fault& fault : faults) {
    const test::ProcessResult result = check(fault.change);
    EXPECT_EQ(result.exit_code, 10) << fault.column << " " << fault.said;
    EXPECT_EQ(cells_of(read_file(folder_.path() / "out.csv")).size(), 80U);
    const std::string line =
        fmt::format("warning: unlike the training data: \"{}\": ", fault.column);
    const std::size_t at = result.err.find(line);
    ASSERT_NE(at, std::string::npos) << result.err;
    EXPECT_NE(result.err.substr(at, result.err.find('\n', at) - at).find(fault.said),
              std::string::npos)
        << result.err;
  }
  const test::ProcessResult unchecked = predict("--data test.csv -o out.csv");
  EXPECT_EQ(unchecked.exit_code, 0);
  EXPECT_NE(unchecked.err.find("unlike the training data: \"horsepower\""), std::string::npos);
}

TEST_F(PredictEndToEndTest, PredictionsThatAreAllTheSameAreNamed) {
  train("auto_mpg.csv", "data.target=miles_per_gallon data.ignore=name training.epochs=3");
  Row first;
  change_test_rows([&](Row& row) { row = first = first.empty() ? row : first; });
  const test::ProcessResult result = predict("--data test.csv --check -o out.csv");
  EXPECT_EQ(result.exit_code, 10);
  EXPECT_NE(
      result.err.find("warning: unlike the training data: the predictions for all 79 rows are "
                      "the same\n"),
      std::string::npos)
      << result.err;
  EXPECT_TRUE(result.err.ends_with(
      "error: --check: expected rows like those in training, got 8 differences (see above)\n"))
      << result.err;
}

TEST_F(PredictEndToEndTest, ErrorsHaveTheirExitCodesAndLeaveNoOutput) {
  train("penguins.csv", "data.target=species --epochs 2");
  const auto expect = [&](const std::string& arguments, int exit_code, const std::string& message) {
    const test::ProcessResult result = predict(arguments + " --output p.csv");
    EXPECT_EQ(result.exit_code, exit_code) << arguments;
    EXPECT_EQ(result.err, "error: " + message + "\n");
    EXPECT_FALSE(fs::exists(path("p.csv")));
  };
  folder_.write("bad.csv",
                "sex,island,beak_length_mm,beak_depth_mm,flipper_length_mm,body_mass_g\n"
                "MALE,Dream,40,18,long,4000\n");
  expect("--data bad.csv", 3,
         "bad.csv:2: column \"flipper_length_mm\": expected a number, got \"long\"; correct it: "
         "the column was numeric in the training data");
  folder_.write("less.csv", "sex,island\nMALE,Dream\n");
  expect("--data less.csv", 3,
         "less.csv:1: expected the columns of the training data; missing from the header: "
         "\"beak_length_mm\", \"beak_depth_mm\", \"flipper_length_mm\" and \"body_mass_g\"");
  expect("--data none.csv", 3, "none.csv: no such file");
  expect("", 2, "predict: expected --data FILE, got nothing");
  expect("--data bad.csv --epochs 3", 2,
         "--epochs: training.epochs: predict always uses the run's saved configuration; remove "
         "this override");
  const test::ProcessResult unwritable = predict("--data test.csv --output no/p.csv");
  EXPECT_EQ(unwritable.exit_code, 8);
  EXPECT_EQ(unwritable.err, "error: cannot write no/p.csv: No such file or directory\n");
  fs::resize_file(path("runs/latest/checkpoints/best.pt"), 5000);
  const test::ProcessResult damaged = predict("--data test.csv --output p.csv");
  EXPECT_EQ(damaged.exit_code, 7);
  EXPECT_NE(damaged.err.find("runs/latest/checkpoints/best.pt: "), std::string::npos);
  EXPECT_FALSE(fs::exists(path("p.csv")));
}

TEST_F(PredictEndToEndTest, AModelFromBeforeTheFirstStepIsNamed) {
  train("penguins.csv", "data.target=species --epochs 1");
  const std::string first = "runs/latest/checkpoints/checkpoint_epoch_000.pt";
  ASSERT_TRUE(fs::exists(path(first)));
  const test::ProcessResult result =
      test::trainer_in(folder_.path(), "-q predict " + first + " --data test.csv --output p.csv");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_TRUE(result.err.starts_with(
      "warning: " + first +
      ": this model has not been trained; its weights are the initial ones\n"))
      << result.err;
}

TEST_F(PredictEndToEndTest, ASignalLeavesNoOutput) {
  train("penguins.csv", "data.target=species --epochs 2");
  const std::string table = read_file(path("test.csv"));
  const std::string rows = table.substr(table.find('\n') + 1);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    fs::remove(path("in"));
    ASSERT_EQ(mkfifo(path("in").c_str(), 0600), 0);
    test::RunningProgram program(folder_.path(),
                                 "predict runs/latest --data in --output p.csv --threads 1",
                                 test::Moments::kPassed);
    // It waits for the rest of a pipe that does not come, when it has written some.
    std::ofstream in(path("in"));
    in << table;
    for (int i = 0; i < 500; ++i) in << rows;
    in.flush();
    program.wait_until_it_sleeps();
    EXPECT_TRUE(has_temporary_files(folder_.path()));
    program.send(signal);
    const test::ProcessResult result = program.finish();
    EXPECT_EQ(result.exit_code, 128 + signal) << result.err;
    EXPECT_NE(result.err.find("warning: interrupted; no output was written\n"), std::string::npos)
        << result.err;
    for (const auto& entry : fs::directory_iterator(folder_.path())) {
      EXPECT_EQ(entry.path().filename().string().find("p.csv"), std::string::npos);
    }
  }
}

TEST_F(PredictEndToEndTest, WritesNothingUnderTheNameOfAnotherFormat) {
  train("penguins.csv", "data.target=species --epochs 1");
  const std::string text = ".csv, .tsv or .txt (or that and .gz)";
  for (const std::string name : {"x.json", "x.xlsx", "x.npy", "x.csv.zip", "x.parquet.gz"}) {
    const test::ProcessResult result = predict("--data test.csv --output " + name);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_EQ(result.err, "error: --output: expected a name ending in " + text +
                              ", or in .parquet, got \"" + name + "\"\n");
    EXPECT_FALSE(fs::exists(path(name)));
  }
  EXPECT_EQ(predict("--data test.csv -o p.csv --on-error skip --errors e.json").err,
            "error: --errors: expected a name ending in " + text + ", got \"e.json\"\n");
  for (const char* name : {"x.TSV.gz", "x", "x.gz", "/dev/null"}) {
    EXPECT_EQ(predict(std::string("--data test.csv --output ") + name).exit_code, 0) << name;
  }
}

TEST_F(PredictEndToEndTest, TheOutputIsNoInput) {
  train("penguins.csv", "data.target=species --epochs 1");
  const fs::path best = path("runs/latest/checkpoints/best.pt");
  fs::copy_file(best, path("m.pt"));
  const std::string before = test::read_file(path("m.pt"));
  fs::create_symlink("m.pt", path("link"));
  fs::create_hard_link(path("m.pt"), path("twin"));
  const auto refusal = [&](const std::string& output) {
    const test::ProcessResult result =
        test::trainer_in(folder_.path(), "predict m.pt --data test.csv --output " + output);
    EXPECT_EQ(result.exit_code, 2);
    return result.err;
  };
  for (const std::string name : {"m.pt", "link", "twin"}) {
    EXPECT_EQ(refusal(name),
              "error: --output: " + name + " is the model itself; choose another name\n");
  }
  EXPECT_EQ(refusal("test.csv"),
            "error: --output: test.csv is the file of --data; choose another file\n");
  EXPECT_EQ(test::read_file(path("m.pt")), before);
  EXPECT_EQ(predict("--data test.csv --output runs/latest/checkpoints/p.csv").err,
            "error: --output: runs/latest/checkpoints/p.csv is in the checkpoints folder of the "
            "run; choose another folder\n");
}

TEST_F(PredictEndToEndTest, InspectNeedsNoLibTorch) {
  train("penguins.csv", "data.target=species --epochs 2");
  const test::ProcessResult text = test::trainer_in(folder_.path(), "inspect runs/latest");
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_NE(text.out.find("layers.1: 128 -> 128, relu\n"), std::string::npos) << text.out;
  const test::ProcessResult json = test::trainer_in(folder_.path(), "inspect runs/latest --json");
  EXPECT_EQ(parse_json(json.out)["history"]["epochs"].size(), 2U);
  for (const char* command : {"inspect runs/latest", "predict runs/latest --data test.csv"}) {
    const test::ProcessResult result = test::trainer_in(folder_.path(), command, "LD_DEBUG=libs");
    EXPECT_EQ(result.err.find("libtorch"), std::string::npos) << command;
  }
}

TEST_F(PredictEndToEndTest, InspectWritesMarkdown) {
  train("penguins.csv", "data.target=species training.epochs=2");
  const test::ProcessResult result =
      test::trainer_in(folder_.path(), "inspect runs/latest --markdown");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(result.out.starts_with("# Model latest\n\n- file: ")) << result.out;
  EXPECT_NE(result.out.find("\n- columns: "), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("\n  - \"island\": categorical, 3 categories: "), std::string::npos)
      << result.out;
  EXPECT_NE(result.out.find("\n| epoch | train loss |"), std::string::npos) << result.out;
  EXPECT_EQ(test::trainer_in(folder_.path(), "inspect runs/latest --markdown --json").err,
            "error: --json: conflicts with --markdown\n");
}

TEST_F(PredictEndToEndTest, CarriesColumnsAlongAndLeavesOutRowsThatCannotBeRead) {
  train("penguins.csv", "data.target=species --epochs 2");
  folder_.write("new.csv",
                "species,island,beak_length_mm,beak_depth_mm,flipper_length_mm,body_mass_g,sex\n"
                "Adelie,Biscoe,39.1,18.7,181,3750,MALE\n"
                "Gentoo,Dream,much,17.4,186,3800,FEMALE\n"
                "Adelie,Dream,40.3,18,195,3250,FEMALE\n");
  const test::ProcessResult result =
      test::trainer_in(folder_.path(),
                       "predict runs/latest --data new.csv -o out.csv --keep species --keep "
                       "'body*' --on-error skip");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(
      result.err.find("warning: skipped 1 row that could not be read, the first is line 3: column "
                      "\"beak_length_mm\": expected a number, got \"much\"; correct it: the column "
                      "was numeric in the training data (all listed in out.csv.errors.csv)\n"
                      "2 rows predicted in "),
      std::string::npos)
      << result.err;
  const std::vector<Row> rows = cells_of(read_file(folder_.path() / "out.csv"));
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(Row(rows[0].begin(), rows[0].begin() + 3),
            (Row{"species", "body_mass_g", "prediction"}));
  EXPECT_EQ(Row(rows[1].begin(), rows[1].begin() + 2), (Row{"Adelie", "3750"}));
  EXPECT_EQ(Row(rows[2].begin(), rows[2].begin() + 2), (Row{"Adelie", "3250"}));
  EXPECT_TRUE(read_file(folder_.path() / "out.csv.errors.csv").starts_with("line,reason\n3,"));
  const test::ProcessResult stopped =
      test::trainer_in(folder_.path(), "predict runs/latest --data new.csv");
  EXPECT_EQ(stopped.exit_code, 3);
  const test::ProcessResult over = test::trainer_in(
      folder_.path(), "predict runs/latest --data new.csv -o runs/latest/checkpoints/best.pt");
  EXPECT_EQ(over.exit_code, 2);
  EXPECT_EQ(over.err,
            "error: --output: runs/latest/checkpoints/best.pt is in the checkpoints folder of the "
            "run; choose another folder\n");
}

}  // namespace
}  // namespace trainer
