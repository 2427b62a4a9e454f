// SPDX-License-Identifier: Apache-2.0
// `trainer report`: the file, and what a browser makes of it.
#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "trainer/base/text/json.h"

#include "support/error_of.h"
#include "support/files.h"
#include "support/metrics_records.h"
#include "support/node.h"
#include "support/program_test.h"

namespace trainer {
namespace {

namespace fs = std::filesystem;
using test::ProcessResult;

class ReportTest : public test::ProgramTest {
 protected:
  void train(const std::string& arguments) {
    const ProcessResult result = trainer("-q threads=1 " + arguments);
    ASSERT_EQ(result.exit_code, 0) << result.err;
  }
  std::string report(const std::string& arguments) {
    const ProcessResult result = trainer("report -o report.html " + arguments);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return test::read_file(folder_.path() / "report.html");
  }
  /// What a browser sees.
  Json open() {
    return test::json_of_node("open_report.js", (folder_.path() / "report.html").string());
  }
};

TEST_F(ReportTest, IsOneFileInTheRunFolder) {
  train(test::with_config("penguins.yaml") + "--epochs 3");
  const ProcessResult result = trainer("report latest");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const fs::path file = fs::canonical(folder_.path() / "runs/latest") / "report.html";
  EXPECT_TRUE(result.out.starts_with("report      runs/2")) << result.out;
  const std::string html = test::read_file(file);
  EXPECT_LT(html.size(), 100'000U);
  for (const char* outside : {"http://", "https://", "@import", "url(h"}) {
    const std::string text = test::replaced(html, "http://www.w3.org/2000/svg", "");
    EXPECT_EQ(text.find(outside), std::string::npos) << outside;
  }
}

TEST_F(ReportTest, ABrowserShowsARun) {
  SKIP_WITHOUT_BROWSER();
  train(test::with_config("penguins.yaml") + "--epochs 3");
  report("latest");
  const Json seen = open();
  EXPECT_EQ(seen["problems"], Json::array());
  EXPECT_EQ(seen["requests"], Json::array());
  EXPECT_EQ(seen["violations"], Json::array());
  EXPECT_LE(seen["width"].get<int>(), 390);
  const std::string charts = seen["charts"].dump();
  for (const char* chart : {"loss", "ROC curve", "learning rate"}) {
    EXPECT_NE(charts.find("\"" + std::string(chart) + "\""), std::string::npos) << charts;
  }
  EXPECT_NE(seen["hovered"].get<std::string>().find("val "), std::string::npos) << seen["hovered"];
  EXPECT_TRUE(seen["read"].get<std::string>().starts_with("epoch ")) << seen["read"];
  const auto text = seen["text"].get<std::string>();
  EXPECT_LT(text.find("The model beats the baseline"), text.find("Confusion matrix")) << text;
  for (const char* part :
       {"classification of species, 3 classes: Adelie", "data\npenguins.csv", "warnings\nnone",
        "depends on\nbeak_length_mm", "241 training, 34 test",
        "rows that it was not trained on are classified correctly (95 % interval: ",
        "metric\ttraining\tvalidation\ttest\tbaseline\n", "Confusion matrix", "ROC curve",
        "(area 0.", "Worst rows", "Importance of the columns", "Effect of beak_length_mm",
        "share of the rows", "training.epochs", "Repeat it with", "Chinstrap"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part;
  }
}

// A curve of one point, values that JSON has not (they are null), and equal ones, of which the
// smoothing makes values that differ by rounding errors.
TEST_F(ReportTest, ABrowserShowsCurvesOfOnePointOfNoneAndOfEqualValues) {
  SKIP_WITHOUT_BROWSER();
  const auto text_of = [&] {
    report("latest");
    const Json seen = open();
    EXPECT_EQ(seen["problems"], Json::array());
    EXPECT_EQ(seen["violations"], Json::array());
    return seen["text"].get<std::string>();
  };
  const auto with_loss = [&](const Json& loss) {
    const fs::path metrics = fs::canonical(folder_.path() / "runs/latest/metrics.jsonl");
    std::string records;
    for (Json record : test::metrics_records(metrics)) {
      record["loss"] = loss;
      records += record.dump() + "\n";
    }
    std::ofstream(metrics) << records;
    return text_of();
  };
  train("--epochs 1");
  const std::string one = text_of();
  EXPECT_NE(one.find("\n1\nepoch\nbest\n"), std::string::npos) << one;  // the only tick
  EXPECT_EQ(one.find("no finite values"), std::string::npos) << one;
  EXPECT_NE(with_loss(nullptr).find("no finite values"), std::string::npos);
  train("--epochs 3");
  const std::string equal = with_loss(0.1);
  EXPECT_NE(equal.find("\n0.095\n0.1\n0.105\n"), std::string::npos) << equal;
}

TEST_F(ReportTest, ABrowserShowsAndHidesSeveralRuns) {
  SKIP_WITHOUT_BROWSER();
  train(test::with_config("auto_mpg.yaml") + "--epochs 3 --output-dir a");
  train(test::with_config("auto_mpg.yaml") + "--epochs 4 --lr 0.01 --output-dir b");
  report("a/latest b/latest");
  const Json seen = open();
  EXPECT_EQ(seen["problems"], Json::array());
  EXPECT_EQ(seen["violations"], Json::array());
  EXPECT_EQ(seen["title"], "2 runs");
  EXPECT_EQ(seen["runs"], 2);
  EXPECT_EQ(seen["after_switch"]["before"], 4);  // train and validation of each
  EXPECT_EQ(seen["after_switch"]["after"], 2);
  const auto text = seen["text"].get<std::string>();
  for (const char* part : {"What differs", "training.learning_rate", "Residuals", "Is it noise?"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part;
  }
}

/// The JSON that the page of a report draws.
Json data_of(const std::string& html) {
  const std::string begin = R"(<script type="application/json" id="data">)";
  const std::size_t at = html.find(begin) + begin.size();
  return parse_json(html.substr(at, html.find("</script>", at) - at));
}

// Of a cross-validation, each row is predicted by the run that has not seen it.
TEST_F(ReportTest, ABrowserShowsCrossValidationsAndEnsembles) {
  SKIP_WITHOUT_BROWSER();
  for (const std::string command : {"cv --folds 3", "ensemble --members 3"}) {
    train(command + " --epochs 3 data.test_fraction=0 output_dir=" + command.substr(0, 2) + " " +
          test::with_config("auto_mpg.yaml"));
    const fs::path parent = path(command.substr(0, 2));
    std::string folder;
    for (const auto& item : fs::directory_iterator(parent)) {
      if (!item.is_symlink()) folder = item.path().string();
    }
    report(folder);
    const Json seen = open();
    EXPECT_EQ(seen["problems"], Json::array());
    EXPECT_EQ(seen["violations"], Json::array());
    const auto text = seen["text"].get<std::string>();
    std::vector<std::string> parts = {
        "regression of miles_per_gallon, mean 2",
        "398, each predicted by a model that has not",
        "The mean absolute error for 398 rows that it was not trained on is ",
        "True against predicted",
        "Importance of the columns",
        "Effect of ",
        "Worst rows"};
    if (command.starts_with("cv")) {
      parts.emplace_back("out-of-fold\tmean of the folds\tstd of the folds\tbaseline\n");
      parts.emplace_back("Folds");
    }
    for (const std::string& part : parts) {
      EXPECT_NE(text.find(part), std::string::npos) << part << '\n' << text;
    }
  }
}

TEST_F(ReportTest, ACrossValidationNamesNoRunElsewhere) {
  train("cv --folds 2 --epochs 1 --output-dir a " + test::with_config("penguins.yaml"));
  train("--epochs 1 --output-dir b " + test::with_config("penguins.yaml"));
  fs::path cv;
  for (const auto& item : fs::directory_iterator(path("a"))) cv = item.path();
  for (const std::string& run : {std::string("../../b/latest"), path("b/latest").string()}) {
    Json json = parse_json(test::read_file(cv / "cv.json"));
    for (Json& one : json["runs"]) one["run"] = run;
    std::ofstream(cv / "cv.json") << json;
    EXPECT_TRUE(data_of(report(cv.string()))["evaluations"].empty()) << run;
  }
}

TEST_F(ReportTest, AnEnsembleStandsBesideTheMeanOfItsMembers) {
  ASSERT_EQ(
      trainer("ensemble -q --members 2 --epochs 3 " + test::with_config("penguins.yaml")).exit_code,
      0);
  const Json found = data_of(report("latest"))["evaluations"][0];
  EXPECT_EQ(found["scores"]["head"], Json({"metric", "test", "mean of its members", "baseline"}));
  EXPECT_EQ(found["scores"]["rows"][0][0], "accuracy");
  for (const Json& cell : found["scores"]["rows"][0]) EXPECT_NE(cell, "");
  EXPECT_TRUE(found["verdict"]["good"]);
}

// Whatever stands in names and notes is text.
TEST_F(ReportTest, NothingInARunIsTakenForHtml) {
  SKIP_WITHOUT_BROWSER();
  folder_.write("t<b>.csv",
                "\"<img src=x onerror=alert(1)>\",<script>alert(4)</script>,y\n"
                "1,<i>,</script><script>alert(2)</script>\n2,q,b\n3,<i>,b\n"
                "4,<i>,</script><script>alert(2)</script>\n5,<i>,b\n6,<i>,b\n7,q,b\n8,q,b\n"
                "9,<i>,b\n10,q,b\n");
  train(
      "data.source=csv 'data.path=t<b>.csv' data.target=y --epochs 2 data.test_fraction=0.4 "
      "'data.categorical=[\"<script>alert(4)</script>\"]'");
  const fs::path run = folder_.path() / "a <b> & 'c'";
  fs::rename(fs::canonical(folder_.path() / "runs/latest"), run);
  ASSERT_EQ(trainer("runs note \"a <b> & 'c'\" '<script>alert(3)</script>'").exit_code, 0);
  report("\"a <b> & 'c'\"");
  const Json seen = open();
  EXPECT_EQ(seen["problems"], Json::array());
  EXPECT_EQ(seen["title"], "a <b> & 'c'");
  const auto text = seen["text"].get<std::string>();
  EXPECT_NE(text.find("<script>alert(3)</script>"), std::string::npos) << text;
  EXPECT_NE(text.find("</script><script>alert(2)</script>"), std::string::npos) << text;
  for (const char* part :
       {"Effect of <img src=x onerror=alert(1)>", "Effect of <script>alert(4)</script>", "<i>\t"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << '\n' << text;
  }
}

// With the recipe that `trainer init` writes, whose importance takes long.
TEST_F(ReportTest, WorstRowsAreAsTheFileHasThem) {
  std::string csv = "name;day;age;rent\n";
  for (int i = 0; i < 300; ++i) {
    csv += fmt::format("n{};2026-{:02}-{:02};{};{:.2f}\n", i, 1 + i % 12, 1 + i % 28,
                       i % 4 == 0 ? "k.A." : std::to_string(i % 40), 0.5 + i % 40 + i % 7);
  }
  folder_.write("t.csv", csv);
  train(
      "data.source=csv data.path=t.csv data.delimiter=semicolon data.target=rent data.id=name "
      "data.missing=[k.A.] "
      "recipe=tabm training.epochs=2 data.test_fraction=0.3 seed=3");
  const Json found = data_of(report("latest"))["evaluations"][0];
  const Json& head = found["worst"]["head"];
  EXPECT_EQ(Json(head.begin(), head.begin() + 6),
            Json({"line", "name", "true", "predicted", "error", "loss"}));
  const auto column = [&](const char* name) {
    return static_cast<std::size_t>(std::find(head.begin(), head.end(), name) - head.begin());
  };
  bool has_missing = false;
  for (const Json& row : found["worst"]["rows"]) {
    const int i = std::stoi(row[0].get<std::string>()) - 2;
    EXPECT_EQ(row[1], fmt::format("n{}", i));
    EXPECT_NEAR(std::stod(row[2].get<std::string>()), 0.5 + i % 40 + i % 7, 0.01);
    EXPECT_NEAR(std::stod(row[4].get<std::string>()),
                std::stod(row[3].get<std::string>()) - std::stod(row[2].get<std::string>()), 0.02);
    EXPECT_EQ(row[column("day")], fmt::format("2026-{:02}-{:02}", 1 + i % 12, 1 + i % 28));
    EXPECT_EQ(row[column("age")], i % 4 == 0 ? "missing" : std::to_string(i % 40));
    has_missing |= i % 4 == 0;
  }
  EXPECT_TRUE(has_missing);
  EXPECT_EQ(found["importance"]["entries"].size(), 2U) << found["importance"];
  EXPECT_FALSE(found["importance"]["effects"].empty());
  const ProcessResult one = trainer("explain runs/latest --row 2");
  EXPECT_NE(one.out.find("missing"), std::string::npos) << one.out;
  EXPECT_NE(one.out.find("2026-01-01"), std::string::npos) << one.out;
}

TEST_F(ReportTest, WithoutTheDataItHasWhatTheRunFolderHas) {
  folder_.write("t.csv", "x,y\n1,a\n2,b\n3,b\n4,a\n5,b\n6,b\n7,b\n8,b\n9,b\n10,a\n");
  train("data.source=csv data.path=t.csv data.target=y --epochs 2 data.test_fraction=0.2");
  fs::remove(folder_.path() / "t.csv");
  const std::string html = report("latest");
  EXPECT_NE(html.find("Without curves and rows: "), std::string::npos);
  EXPECT_NE(html.find("\"confusion\":"), std::string::npos);
  EXPECT_EQ(report("--no-data latest").find("Without curves and rows: "), std::string::npos);
}

TEST_F(ReportTest, AHalfDeletedRunHasOneToo) {
  train("--epochs 2");
  const fs::path run = fs::canonical(folder_.path() / "runs/latest");
  fs::remove_all(run / "checkpoints");
  fs::remove(run / "summary.json");
  folder_.write("runs/latest/system.json", "{");
  std::ofstream(run / "metrics.jsonl", std::ios::app) << R"({"step":9,"epoch":)";
  EXPECT_NE(report("latest").find("\"title\":\"loss\""), std::string::npos);
  fs::remove(run / "metrics.jsonl");
  EXPECT_NE(report("latest").find("\"charts\":[]"), std::string::npos);
}

TEST_F(ReportTest, MistakesAreNamed) {
  EXPECT_EQ(trainer("report").err,
            "error: report: expected a run folder or a checkpoint file, got nothing, and the "
            "folder runs has no run; name one\n");
  EXPECT_EQ(trainer("report a b").err, "error: report: several runs need --output FILE\n");
  EXPECT_EQ(trainer("report a").err,
            "error: a: expected a run folder, or the name of one in runs; `trainer runs list` "
            "shows them\n");
}

}  // namespace
}  // namespace trainer
