// SPDX-License-Identifier: Apache-2.0
// `trainer export --format html`: what the script of the page computes, in Node and in a browser.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "trainer/apply/explain/contributions.h"
#include "trainer/apply/explain/explained_rows.h"
#include "trainer/apply/export_samples.h"
#include "trainer/apply/model.h"
#include "trainer/base/text/json.h"

#include "end_to_end/export_fixture.h"
#include "support/files.h"
#include "support/node.h"
#include "support/process.h"

namespace trainer {
namespace {

namespace fs = std::filesystem;
using test::ExportCase;
using test::ProcessResult;

class ExportHtmlTest : public test::ExportTestBase {
 protected:
  /// What the scripts of pages compute for these jobs of run_page.js.
  Json computed(const std::vector<Json>& jobs) const {
    std::string lines;
    for (const Json& job : jobs) lines += job.dump() + "\n";
    folder_.write("jobs", lines);
    return test::json_of_node("run_page.js", path("jobs").string());
  }

  /// What a browser sees when it enters the rows of the file `rows`, and nothing is wrong with.
  Json open(const std::string& page) const {
    const Json seen = test::json_of_node(
        "open_model.js", fmt::format("{} {}", path(page).string(), path("rows").string()));
    EXPECT_EQ(seen["problems"], Json::array());
    EXPECT_EQ(seen["requests"], Json::array());
    EXPECT_EQ(seen["violations"], Json::array());
    EXPECT_LE(seen["width"].get<int>(), 390);
    return seen;
  }

  /// The largest difference so far, relative to what was expected where that exceeds 1. It is that
  /// of the float32 in which this program computes.
  double largest_ = 0;

  void compare(double got, double expected, const std::string& what, double tolerance = 2e-6) {
    const double difference = std::abs(got - expected) / std::max(1.0, std::abs(expected));
    EXPECT_LE(difference, tolerance) << what << ": " << got << " instead of " << expected;
    largest_ = std::max(largest_, difference);
  }
};

#define SKIP_WITHOUT_NODE()                               \
  if (test::run_process("node --version").exit_code != 0) \
  GTEST_SKIP() << "needs node (scripts/setup.sh test)"

// What a job has for each row of features, and what this program finds for the first one.
Json job_of(const std::string& page, const apply::Model& model, const data::Matrix& features) {
  const std::vector<double> numbers = apply::in_file_units(model, features);
  Json rows = Json::array();
  for (auto begin = numbers.begin(); begin != numbers.end(); begin += features.num_columns) {
    rows.push_back(std::vector<double>(begin, begin + features.num_columns));
  }
  return {{"page", page}, {"rows", std::move(rows)}, {"explain", true}};
}

// Compares the contributions to the first row of apply::sample_features(), which are not limited as
// those that a page reads.
void compare_explained(const apply::Model& model, const Json& got, const std::string& what) {
  if (!apply::feature_limits(model.schema).low.empty()) return;
  const data::Matrix row = apply::sample_features(model, 1);
  const explain::ExplainedOutput wanted =
      explain::explain_row(model, explain::column_groups(model.schema), row, 1).outputs.front();
  double size = 1;
  for (const double one : wanted.contributions) size = std::max(size, std::abs(one));
  ASSERT_EQ(got["contributions"].size(), wanted.contributions.size()) << what;
  for (std::size_t k = 0; k < wanted.contributions.size(); ++k) {
    EXPECT_NEAR(got["contributions"][k].get<double>(), wanted.contributions[k], 3e-3 * size)
        << what;
  }
  const double tolerance = 1e-4 * std::max(1.0, std::abs(wanted.at_baseline));
  EXPECT_NEAR(got["atBaseline"].get<double>(), wanted.at_baseline, tolerance) << what;
}

TEST_F(ExportHtmlTest, PagesPredictAndExplainAsThisProgramDoes) {
  SKIP_WITHOUT_NODE();
  std::vector<Json> jobs;
  std::vector<apply::Model> models;
  for (const ExportCase& one : test::export_cases()) {
    const std::string name = fmt::format("m{}", models.size());
    const fs::path checkpoint = folder_.path() / (name + ".checkpoint");
    write_model(one, checkpoint);
    const ProcessResult result = run(fmt::format("{} -o {}.html", checkpoint.string(), name));
    ASSERT_EQ(result.exit_code, 0) << result.err;
    models.push_back(apply::load_model(checkpoint));
    jobs.push_back(job_of(path(name + ".html").string(), models.back(),
                          apply::sample_features(models.back(), kNumRows)));
  }
  EXPECT_GT(models.size(), 40U);
  const Json all = computed(jobs);
  ASSERT_EQ(all.size(), models.size() * kNumRows);
  for (std::size_t i = 0; i < models.size(); ++i) {
    const std::string what = fmt::format("m{} {}", i, test::export_cases()[i].recipe.model);
    const Json* const rows = &all[i * kNumRows];
    std::vector<double> values;
    for (int64_t row = 0; row < kNumRows; ++row) {
      for (const Json& value : rows[row]["values"]) values.push_back(value);
    }
    const std::vector<double> wanted = expected(models[i], test::ExportOutputs::kProbabilities);
    ASSERT_EQ(values.size(), wanted.size()) << what;
    for (std::size_t k = 0; k < values.size(); ++k) compare(values[k], wanted[k], what);
    compare_explained(models[i], rows[0]["explained"], what);
  }
  RecordProperty("largest_difference", fmt::format("{:.2g}", largest_));
}

// Names and categories that could end a script or an attribute, units, dates, and missing cells.
constexpr const char* kSeparator = "\xE2\x80\xA8";  // U+2028, the end of a line to old JavaScript

std::vector<std::string> hostile_kinds() {
  return {"say \"hi\"", "</script><img src=x onerror=alert(1)>",
          std::string("a") + kSeparator + "b"};
}

std::string hostile_table() {
  std::string table = "\"<!-- \"\"n\"\"\",</title>'{{DATA}},price,day,kind,other,y\n";
  for (int i = 0; i < 160; ++i) {
    std::string kind = hostile_kinds()[static_cast<std::size_t>(i) % 3];
    for (std::size_t at = 0; (at = kind.find('"', at)) != std::string::npos; at += 2) {
      kind.insert(at, 1, '"');
    }
    table +=
        fmt::format("{},{},${}.50,20{:02}-{:02}-{:02},{},{},{}\n", i * 53 % 29,
                    i % 9 == 0 ? "" : fmt::format("{}", 0.5 * (i * 37 % 41)), i * 7 % 31,
                    10 + i % 13, 1 + i % 12, 1 + i * 5 % 28, "\"" + kind + "\"",
                    i % 11 == 0 ? "" : std::string(1, "pqrs"[i % 4]), i * 31 % 17 + 2 * (i % 3));
  }
  return table;
}

class ExportHtmlTableTest : public ExportHtmlTest {
 protected:
  void train(const std::string& arguments) {
    folder_.write("t.csv", hostile_table());
    const ProcessResult trained = trainer(
        "-q threads=1 data.source=csv data.path=t.csv data.target=y data.task=regression "
        "training.epochs=12 data.categorical=[kind,other] " +
        arguments);
    ASSERT_EQ(trained.exit_code, 0) << trained.err;
    const ProcessResult exported = run("runs/latest --output model.html");
    ASSERT_EQ(exported.exit_code, 0) << exported.err;
  }
};

TEST_F(ExportHtmlTableTest, ARowOfATablePredictsAsItsLineDoes) {
  SKIP_WITHOUT_NODE();
  std::vector<Json> cells = {{3, 1.5, 12.5, "2014-03-05", "say \"hi\"", "p"},
                             {7, nullptr, 3.5, "2019-12-24", hostile_kinds()[1], nullptr},
                             {200, 8, 99.5, "2030-06-01", hostile_kinds()[2], "unseen"},
                             {4, 2, 0.5, "2011-01-31", "unseen", "s"}};
  folder_.write("new.csv",
                "\"<!-- \"\"n\"\"\",</title>'{{DATA}},price,day,kind,other\n"
                "3,1.5,$12.50,2014-03-05,\"say \"\"hi\"\"\",p\n"
                "7,,$3.50,2019-12-24,</script><img src=x onerror=alert(1)>,\n" +
                    fmt::format("200,8,$99.50,2030-06-01,a{}b,unseen\n", kSeparator) +
                    "4,2,$0.50,2011-01-31,unseen,s\n");
  for (const char* recipe : {"plain", "realmlp", "tabm", "linear"}) {
    train(fmt::format("recipe={}", recipe));
    const ProcessResult predicted = trainer("predict runs/latest --data new.csv");
    ASSERT_EQ(predicted.exit_code, 0) << predicted.err;
    const std::vector<std::string> lines = test::lines_of(predicted.out);
    const Json job = {{"page", path("model.html").string()}, {"rows", cells}, {"explain", true}};
    const Json got = computed({job});
    ASSERT_EQ(lines.size(), got.size() + 1) << predicted.out;
    for (std::size_t i = 0; i < got.size(); ++i) {
      const std::string what = fmt::format("{}, row {}", recipe, i);
      compare(got[i]["values"][0], std::stod(lines[i + 1]), what);
      const ProcessResult explained =
          trainer(fmt::format("explain runs/latest --data new.csv --row {} --json", i + 2));
      ASSERT_EQ(explained.exit_code, 0) << explained.err;
      const Json wanted = parse_json(explained.out)["outputs"][0];
      for (std::size_t k = 0; k < wanted["contributions"].size(); ++k) {
        EXPECT_NEAR(got[i]["explained"]["contributions"][k].get<double>(),
                    wanted["contributions"][k]["contribution"].get<double>(), 0.02)
            << what << ", " << wanted["contributions"][k]["column"];
      }
    }
  }
  RecordProperty("largest_difference", fmt::format("{:.2g}", largest_));
}

TEST_F(ExportHtmlTableTest, ABrowserFillsTheForm) {
  SKIP_WITHOUT_BROWSER();
  train("recipe=tabm");
  ASSERT_EQ(run("runs/latest --output model.html --interval 0.8").exit_code, 0);
  const Json row = {{"<!-- \"n\"", "300"},
                    {"</title>'{{DATA}}", ""},
                    {"price", "3.5"},
                    {"kind", hostile_kinds()[1]},
                    {"other", "(missing)"}};
  folder_.write("rows", Json::array({row}).dump());
  const Json seen = open("model.html");
  EXPECT_EQ(seen["title"], "Prediction of y");
  EXPECT_EQ(seen["labels"],
            Json({"<!-- \"n\"", "</title>'{{DATA}}", "price", "day", "kind", "other"}));
  EXPECT_EQ(seen["hints"], Json({"outside 0 to 28, the range in training", "missing", "0.5 to 30.5",
                                 "2010-01-01 to 2022-10-02", "", ""}));
  folder_.write("new.csv",
                "\"<!-- \"\"n\"\"\",</title>'{{DATA}},price,day,kind,other\n300,,$3.50," +
                    seen["values"][3].get<std::string>() + "," + hostile_kinds()[1] + ",\n");
  const ProcessResult predicted = trainer("predict runs/latest --data new.csv --interval 0.8");
  ASSERT_EQ(predicted.exit_code, 0) << predicted.err;
  std::vector<std::string> wanted;  // prediction, lower and upper end
  std::istringstream line(test::lines_of(predicted.out)[1]);
  for (std::string cell; std::getline(line, cell, ',');) {
    wanted.push_back(fmt::format("{:.4g}", std::stod(cell)));
  }
  ASSERT_EQ(wanted.size(), 3U) << predicted.out;
  const auto text = seen["steps"][1].get<std::string>();
  EXPECT_TRUE(text.starts_with(fmt::format("Prediction\n{}\n", wanted[0]))) << text;
  const std::string interval =
      fmt::format("\nWith a probability of 80 % y is between {} and {}.\n", wanted[1], wanted[2]);
  EXPECT_NE(text.find(interval), std::string::npos) << text << interval;
  EXPECT_NE(text.find("How each column moves y from "), std::string::npos) << text;
}

TEST_F(ExportHtmlTest, ABrowserAsksForAValueThatTheModelNeeds) {
  SKIP_WITHOUT_BROWSER();
  write_model({.recipe = {.labels = {}, .num_targets = 2}}, folder_.path() / "m.checkpoint");
  ASSERT_EQ(run("m.checkpoint -o m.html").exit_code, 0);
  folder_.write("rows", R"([{"x1": ""}])");
  const Json seen = open("m.html");
  EXPECT_EQ(seen["title"], "Prediction of y0 and y1");
  EXPECT_EQ(seen["hints"], Json({"", "needs a value", "", "", ""}));
  EXPECT_EQ(seen["steps"][1], "Prediction\nNeeds a value: x1\nContributions\n\nTarget \ny0\ny1");
}

TEST_F(ExportHtmlTest, WhatIsTooLargeForAPageIsRefused) {
  const auto refused = [&](const std::string& output) {
    const ProcessResult result = run("m.checkpoint -o " + output);
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_FALSE(fs::exists(path(output)));
    return result.err;
  };
  write_model({.recipe = {.num_features = 1'001}}, path("m.checkpoint"));
  EXPECT_EQ(refused("m.html"),
            "error: m.checkpoint: an HTML page is limited to 1,000 columns, the model has 1,001; "
            "use --format c or onnx\n");
  write_model({.recipe = {.model = "{hidden_sizes: [3200, 3200]}"}}, path("m.checkpoint"));
  EXPECT_EQ(refused("m.html"),
            "error: m.checkpoint: an HTML page is limited to 10,000,000 weights, the model has "
            "10,272,003; use --format onnx or safetensors\n");
  EXPECT_EQ(refused("m.c"),
            "error: m.checkpoint: a C file is limited to 10,000,000 weights, the model has "
            "10,272,003; use --format onnx or safetensors\n");
}

TEST_F(ExportHtmlTest, OptionsOfOtherFormatsAreRefused) {
  const auto refused = [&](const std::string& options) {
    const ProcessResult result = run("runs --output m.html " + options);
    EXPECT_EQ(result.exit_code, 2);
    return result.err;
  };
  EXPECT_EQ(refused("--softmax"),
            "error: --softmax: an HTML page always returns probabilities; remove this option\n");
  EXPECT_EQ(refused("--preprocessing"),
            "error: --preprocessing: an HTML page always takes the raw columns; remove this "
            "option\n");
  EXPECT_EQ(refused("--batch 2"), "error: --batch: only supported for ONNX; use --format onnx\n");
}

}  // namespace
}  // namespace trainer
