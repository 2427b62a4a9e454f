// SPDX-License-Identifier: Apache-2.0
// `logging.format: json_console`: every line that a run writes is an object. `json`: those of a
// file.
#include <filesystem>
#include <iterator>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "trainer/base/text/json.h"

#include "support/files.h"
#include "support/processes.h"
#include "support/program_test.h"

namespace trainer {
namespace {

using test::ProcessResult;

const std::string kJson = "logging.format=json_console threads=1 ";

class LogFormatTest : public test::ProgramTest {
 protected:
  /// The lines, each of which must be an object with what all have.
  static std::vector<Json> lines_of(const std::string& text) {
    static const std::regex kTime(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)");
    std::vector<Json> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) {
      const Json& object = lines.emplace_back(parse_json_or_null(line));
      EXPECT_TRUE(object.is_object()) << line;
      if (!object.is_object()) continue;
      EXPECT_TRUE(std::regex_match(object.value("time", ""), kTime)) << line;
      for (const char* name : {"level", "event", "message"}) {
        EXPECT_TRUE(object.contains(name) && object[name].is_string()) << line;
      }
    }
    return lines;
  }

  /// Those of a run, which writes nothing to standard output.
  std::vector<Json> run(const std::string& arguments, int exit_code = 0,
                        const std::string& environment = "") const {
    const ProcessResult result = trainer(kJson + arguments, environment);
    EXPECT_EQ(result.exit_code, exit_code) << result.err;
    EXPECT_EQ(result.out, "");
    return lines_of(result.err);
  }

  static std::vector<Json> events(const std::vector<Json>& lines, const std::string& name) {
    std::vector<Json> found;
    for (const Json& line : lines) {
      if (line["event"] == name) found.push_back(line);
    }
    return found;
  }

  static Json only(const std::vector<Json>& lines, const std::string& name) {
    const std::vector<Json> found = events(lines, name);
    EXPECT_EQ(found.size(), 1U) << name;
    return found.empty() ? Json::object() : found.front();
  }
};

TEST_F(LogFormatTest, ARunIsEventsWithTypedFields) {
  const std::vector<Json> lines =
      run(test::with_config("penguins.yaml") + "--epochs 2 logging.save_interval=4");
  const Json start = only(lines, "start");
  EXPECT_EQ(start["train_rows"], 241);
  EXPECT_EQ(start["epochs"], 2);
  EXPECT_EQ(start["steps_per_epoch"], 8);
  EXPECT_EQ(start["device"], "cpu");
  EXPECT_EQ(start["run_folder"], std::filesystem::canonical(path("runs/latest")).string());
  std::map<std::string, std::string> overview;
  for (const Json& line : events(lines, "overview")) overview[line["label"]] = line["value"];
  EXPECT_EQ(overview["rows"], "241 train, 69 validation, 34 test");
  EXPECT_EQ(events(lines, "message").size(), 0U);

  const std::vector<Json> epochs = events(lines, "epoch");
  ASSERT_EQ(epochs.size(), 2U);
  EXPECT_EQ(epochs[1]["epoch"], 2);
  EXPECT_EQ(epochs[1]["epochs"], 2);
  EXPECT_EQ(epochs[1]["step"], 16);
  EXPECT_TRUE(epochs[1]["loss"].is_number_float());
  EXPECT_TRUE(epochs[1]["validation_loss"].is_number_float());
  EXPECT_TRUE(epochs[1]["is_best"].is_boolean());
  EXPECT_TRUE(std::string(epochs[1]["message"]).starts_with("epoch 2/2  loss "));

  // The records are those of metrics.jsonl.
  std::vector<Json> records = events(lines, "metrics");
  std::istringstream file(test::read_file(path("runs/latest/metrics.jsonl")));
  std::size_t i = 0;
  for (std::string line; std::getline(file, line); ++i) {
    ASSERT_LT(i, records.size());
    for (const char* name : {"time", "level", "event", "message"}) records[i].erase(name);
    EXPECT_EQ(records[i].dump(), line);
  }
  EXPECT_EQ(i, records.size());

  const Json result = only(lines, "result");
  EXPECT_EQ(result["stopped_early"], false);
  EXPECT_EQ(result["test"]["accuracy"], summary()["test"]["accuracy"]);
  EXPECT_EQ(result, lines.back());
  const std::string log = test::read_file(path("runs/latest/train.log"));
  EXPECT_NE(log.find(" info    rows        241 train, 69 validation, 34 test\n"),
            std::string::npos);
  EXPECT_EQ(log.find('{'), std::string::npos);
}

TEST_F(LogFormatTest, AFileHasTheSameAndTheConsoleStays) {
  const std::string arguments = "threads=1 data.synthetic.num_samples=200 --epochs 2 ";
  const ProcessResult plain = trainer(arguments);
  const ProcessResult result = trainer(arguments + "logging.format=json");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.out.find("trained     2 epochs, "), std::string::npos) << result.out;
  EXPECT_NE(result.err.find("\nepoch 2/2  loss "), std::string::npos) << result.err;
  EXPECT_EQ(result.err.find('{'), std::string::npos) << result.err;
  EXPECT_EQ(test::lines_of(result.err).size(), test::lines_of(plain.err).size());
  const std::vector<Json> lines = lines_of(test::read_file(path("runs/latest/train.jsonl")));
  EXPECT_EQ(only(lines, "start")["epochs"], 2);
  EXPECT_EQ(events(lines, "epoch").size(), 2U);
  EXPECT_EQ(lines.back()["event"], "result");
  EXPECT_EQ(lines.back()["test"], summary()["test"]);
}

TEST_F(LogFormatTest, TheLogSaysHowARunGoes) {
  const ProcessResult result =
      trainer(test::with_config("penguins.yaml") + "--epochs 1 --seed 7 logging.save_interval=4");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const std::string log = test::read_file(path("runs/latest/train.log"));
  EXPECT_TRUE(std::regex_search(log, std::regex(" info    seed        7\n"))) << log;
  EXPECT_TRUE(std::regex_search(
      log, std::regex(" info    data file   /.*penguins.csv: [0-9,]+ bytes with CRC-32 ")))
      << log;
  const std::regex step(
      R"( info    step [48] \(epoch 1\)  loss [0-9.]+  learning rate [0-9.e-]+  [0-9,]+ samples/s\n)");
  EXPECT_EQ(std::distance(std::sregex_iterator(log.begin(), log.end(), step), {}), 2) << log;
  EXPECT_EQ(result.err.find("samples/s"), std::string::npos);
}

TEST_F(LogFormatTest, WarningsAndEarlyStopsAreEvents) {
  const std::vector<Json> lines =
      run("data.synthetic.num_samples=200 training.early_stopping.patience=1 --epochs 40 --lr 1", 0,
          "OMP_NUM_THREADS=many");
  const Json warning = only(lines, "warning");
  EXPECT_EQ(warning["level"], "warning");
  EXPECT_EQ(warning["message"],
            "OMP_NUM_THREADS: expected a number of threads from 1 to 1024, got \"many\"; "
            "ignoring it");
  const Json stop = only(lines, "early_stop");
  EXPECT_EQ(stop["epoch"], stop["best_epoch"].get<int64_t>() + 1);
  EXPECT_EQ(only(lines, "result")["stopped_early"], true);
}

TEST_F(LogFormatTest, NonFiniteStepsAreEventsAndTheLastErrorToo) {
  const std::string diverging = "data.synthetic.num_samples=200 --lr 1e38 --epochs 3 ";
  const std::vector<Json> skipping = run(diverging + "training.on_nonfinite=skip", 6);
  const std::vector<Json> skips = events(skipping, "non_finite");
  ASSERT_FALSE(skips.empty());
  EXPECT_EQ(skips.front()["level"], "warning");
  EXPECT_TRUE(skips.front()["step"].is_number_integer());
  EXPECT_TRUE(skips.front()["epoch"].is_number_integer());

  const std::vector<Json> stopping = run(diverging, 6);
  const Json error = only(stopping, "error");
  EXPECT_EQ(error["level"], "error");
  EXPECT_EQ(error["exit_code"], 6);
  EXPECT_EQ(error, stopping.back());
}

TEST_F(LogFormatTest, WhatIsWrongWithTheConfigurationOrTheDataIsAnEvent) {
  const Json usage = only(run("training.learning_rate=fast no_key=1", 2), "error");
  EXPECT_EQ(usage["exit_code"], 2);
  EXPECT_EQ(usage["message"],
            "command line: training.learning_rate: expected a number > 0, got \"fast\"\n"
            "command line: no_key: unknown key; trainer config reference lists all keys");
  folder_.write("c.yaml",
                "logging: {format: json_console}\ndata: {source: csv, path: x.csv, target: y}\n");
  const ProcessResult result = trainer("--config c.yaml");
  EXPECT_EQ(result.exit_code, 3);
  const std::vector<Json> lines = lines_of(result.err);
  EXPECT_EQ(only(lines, "error")["message"], path("x.csv").string() + ": no such file");
}

TEST_F(LogFormatTest, ResultsOnStandardOutputAreOneLine) {
  const ProcessResult result = trainer(kJson + "--json data.synthetic.num_samples=200 --epochs 1");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(parse_json_or_null(result.out)["epochs"], 1);
  EXPECT_EQ(result.out.find('\n'), result.out.size() - 1);
  EXPECT_EQ(events(lines_of(result.err), "result").size(), 1U);
}

TEST_F(LogFormatTest, TheTimingIsAnEvent) {
  const std::vector<Json> lines = run("--timing data.synthetic.num_samples=200 --epochs 1");
  EXPECT_EQ(only(lines, "timing")["stages"],
            parse_json(test::read_file(path("runs/latest/timing.json")))["stages"]);
}

TEST_F(LogFormatTest, FoldsAndMembersAreEvents) {
  const std::string run_of_two = "data.synthetic.num_samples=200 --epochs 1 " + kJson;
  ProcessResult result = trainer("cv --folds 2 " + run_of_two);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "");
  std::vector<Json> lines = lines_of(result.err);
  ASSERT_EQ(events(lines, "fold").size(), 2U);
  EXPECT_EQ(events(lines, "fold")[1]["fold"], 2);
  EXPECT_TRUE(events(lines, "fold")[1]["loss"].is_number_float());
  EXPECT_EQ(only(lines, "result")["folds"], 2);
  result = trainer("ensemble --members 2 " + run_of_two);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  lines = lines_of(result.err);
  ASSERT_EQ(events(lines, "member").size(), 2U);
  EXPECT_TRUE(events(lines, "member")[1]["value"].is_number_float());
  EXPECT_TRUE(only(lines, "result")["test"].is_object());
}

TEST_F(LogFormatTest, EachProcessSaysItsRank) {
  test::Processes processes(folder_.path(), 2,
                            kJson +
                                "data.synthetic.num_samples=200 --epochs 1 "
                                "distributed.start_timeout=300",
                            {"", "data.synthetic.num_samples=300"});
  const std::vector<ProcessResult> results = processes.finish();
  for (std::size_t rank = 0; rank < results.size(); ++rank) {
    EXPECT_NE(results[rank].exit_code, 0);
    for (const Json& line : lines_of(results[rank].err)) {
      EXPECT_EQ(line["rank"], rank) << line;
    }
  }
  EXPECT_EQ(events(lines_of(results[0].err), "error").size(), 1U);
}

}  // namespace
}  // namespace trainer
