// SPDX-License-Identifier: Apache-2.0
// Runs exported ONNX files with ONNX Runtime.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "trainer/base/text/parse.h"
#include "trainer/table/schema/encode.h"
#include "trainer/table/schema/scaling.h"
#include "trainer/table/source/table_reader.h"

#include "end_to_end/export_fixture.h"
#include "support/node.h"
#include "support/trainer_program.h"

namespace trainer {
namespace {

namespace fs = std::filesystem;
using apply::ExportOutputs;
using test::expect_near;
using test::export_cases;
using test::ExportCase;
using test::kHasOnnx;
using test::kSource;
using test::ProcessResult;

/// Cells as they stand in a file, by column.
using Cells = std::vector<std::pair<std::string, std::vector<std::string>>>;

class OnnxRuntimeTest : public test::ExportTestBase {
 protected:
  void SetUp() override {
    if (!kHasOnnx) GTEST_SKIP() << "this build has no ONNX; scripts/setup.sh build";
    if (test::run_node(kScript, "probe").exit_code != 0) {
      GTEST_SKIP() << "ONNX Runtime for Node is not here; scripts/setup.sh test";
    }
  }

  static constexpr const char* kScript = "run_onnx.js";

  /// Lets the program find the library that comes with ONNX Runtime for Node.
  static std::string with_runtime() {
    return "TRAINER_ONNXRUNTIME_LIBRARY=" + test::run_node(kScript, "library").out;
  }

  Json run_jobs(const Json& jobs) const {
    folder_.write("jobs.json", jobs.dump());
    return run_python(test::node_command(kScript) + " jobs.json");
  }

  /// That columns.onnx says of these cells what the latest run does of a file with them.
  void expect_as_read(const Cells& cells) const;
};

TEST_F(OnnxRuntimeTest, AnswersAsThisProgramDoes) {
  Json jobs = Json::array();
  std::vector<apply::Model> models;
  const std::vector<ExportCase> all = export_cases();
  for (std::size_t i = 0; i < all.size(); ++i) {
    models.push_back(exported(all[i], fmt::format("{}.onnx", i), jobs));
  }
  const Json answers = run_jobs(jobs);
  ASSERT_EQ(answers.size(), all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string name = apply::output_name(models[i], all[i].outputs);
    ASSERT_TRUE(answers[i].contains(name)) << answers[i];
    const Json dims = {kNumRows, apply::output_width(models[i], all[i].outputs)};
    EXPECT_EQ(answers[i][name]["dims"], dims);
    expect_near(answers[i][name]["data"].get<std::vector<double>>(),
                expected(models[i], all[i].outputs),
                fmt::format("{} {}", all[i].recipe.model, all[i].recipe.training));
  }
}

std::string csv_text(const Cells& cells) {
  std::string text;
  for (const auto& [name, column] : cells) text += (text.empty() ? "" : ",") + name;
  text += '\n';
  for (std::size_t row = 0; row < cells.front().second.size(); ++row) {
    for (std::size_t i = 0; i < cells.size(); ++i) {
      text += (i == 0 ? "" : ",") + cells[i].second[row];
    }
    text += '\n';
  }
  return text;
}

data::CsvFormat csv_format(const apply::Model& model) {
  return {.missing = data::MissingValues(model.schema.missing)};
}

Json make_inputs(const apply::Model& model, const Cells& cells) {
  Json inputs;
  for (const data::Column& column : model.schema.columns) {
    if (data::num_features(column) == 0) continue;
    const auto& [name, texts] = *std::find_if(
        cells.begin(), cells.end(), [&](const auto& c) { return c.first == column.name; });
    Json data = Json::array();
    const bool is_number = column.kind == data::ColumnKind::kNumeric;
    for (const std::string& text : texts) {
      if (is_number && !parse_double(text)) {
        data.push_back(nullptr);
      } else if (is_number) {
        data.push_back(std::stof(text));
      } else {
        data.push_back(text);
      }
    }
    inputs[name] = {{"type", is_number ? "float32" : "string"},
                    {"dims", {texts.size(), 1}},
                    {"data", std::move(data)}};
  }
  return inputs;
}

// Of the rows of a table, as the program reads it.
data::Matrix features_of(const fs::path& csv, const apply::Model& model) {
  data::Table table =
      data::read_table_as({csv, csv_format(model)},
                          {.columns = model.schema.columns, .targets = model.schema.target_names});
  return data::encode(model.schema.columns, model.schema.unknown_category, table).features;
}

void OnnxRuntimeTest::expect_as_read(const Cells& cells) const {
  const apply::Model model = apply::load_model(folder_.path() / "runs/latest");
  Json jobs = Json::array();
  jobs.push_back({{"model", (folder_.path() / "columns.onnx").string()},
                  {"inputs", make_inputs(model, cells)}});
  const Json answers = run_jobs(jobs);
  const fs::path csv = folder_.write("cells.csv", csv_text(cells));
  const data::Matrix features = features_of(csv, model);
  expect_near(answers.at(0).at("probabilities").at("data").get<std::vector<double>>(),
              apply::expected_outputs(model, features, ExportOutputs::kProbabilities),
              csv.string());
}

// Of the penguins: every way of writing nothing, categories that are not known, numbers.
TEST_F(OnnxRuntimeTest, TakesTheColumnsOfATableAsTheyAre) {
  const ProcessResult trained = trainer(test::with_config("penguins.yaml") +
                                        "--epochs 2 threads=1 data.missing_indicator=true "
                                        "'data.missing=[NA, NaN, \"null\", \"?\", -999, n.k., "
                                        "a very long text]'");
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  const ProcessResult result = run("runs/latest -o columns.onnx --softmax --preprocessing");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.out.find("input       island: string [batch, 1]\n"
                            "            beak_length_mm: float32 [batch, 1]\n"),
            std::string::npos)
      << result.out;
  const Cells cells = {
      {"species",
       {"Adelie", "Gentoo", "Adelie", "Adelie", "Gentoo", "Gentoo", "Adelie", "Adelie", "Adelie"}},
      {"island", {"Biscoe", "Dream", "Torgersen", "Atlantis", "", "biscoe", "NaN", "-999", "N.K."}},
      {"sex", {"MALE", "FEMALE", "", "nA", "NULL", "?", "male", "-999.0", "A very long text"}},
      {"body_mass_g", {"3750", "NA", "?", "", "5000.5", "-1", "4e3", "-999", "4000"}},
      {"flipper_length_mm", {"181", "186", "NaN", "200", "210", "190", "0", "200", "-9.99e2"}},
      {"beak_length_mm", {"39.1", "null", "40", "50.5", "45", "", "38", "-998", "40"}},
      {"beak_depth_mm", {"18.7", "17", "19", "nan", "15", "16", "0.5", "17", "18"}}};
  expect_as_read(cells);
}

// Of numbers, those that are written plainly; the nearest number is another category.
TEST_F(OnnxRuntimeTest, TakesCategoriesThatAreNumbersOrBooleans) {
  std::string text = "code,flag,y\n";
  for (int i = 0; i < 40; ++i) {
    const char* codes[] = {"7", "07", "007", "0.5", "20240115000000008"};
    text += fmt::format("{},{},{}\n", codes[i % 5], i % 2 == 0 ? "True" : "False",
                        i % 5 < 2 ? "p" : "q");
  }
  folder_.write("t.csv", text);
  const ProcessResult trained = trainer(
      "data.source=csv data.path=t.csv data.target=y data.categorical=code --epochs 2 threads=1");
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  const ProcessResult result = run("runs/latest -o columns.onnx --softmax --preprocessing");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  expect_as_read(
      {{"y", {"p", "p", "p", "p", "p", "p", "p", "p"}},
       {"flag", {"true", "TRUE", "False", "false", "True", "yes", "1", "FALSE"}},
       {"code",
        {"7.0", "07", "007", "0007", "0.5", "20240115000000009", "20240115000000008.0", "8"}}});
}

class OnnxQuantilesTest : public OnnxRuntimeTest,
                          public testing::WithParamInterface<data::QuantileScore> {};

TEST_P(OnnxQuantilesTest, NumbersBecomeTheirScoresAmongQuantiles) {
  const data::QuantileScore score = GetParam();
  checkpoint::Checkpoint c = test::make_checkpoint({.num_features = 6});
  const std::vector<std::vector<float>> quantiles = {
      {-1, 0, 2, 5}, {0, 0, 0, 1, 1, 4}, {1, 2, 2, 3, 3, 3}, {7, 7, 7}, {0.1F}, {-3, 1e6F}};
  c.schema.scaling = {std::vector<float>(6, 0), std::vector<float>(6, 1)};
  for (std::size_t i = 0; i < quantiles.size(); ++i) {
    c.schema.columns.push_back({.name = c.schema.feature_names[i], .quantiles = quantiles[i]});
    if (i == 0) c.schema.columns[0].fill = 2;
    c.schema.columns.back().quantile_score = score;
  }
  checkpoint::write(folder_.path() / "c.checkpoint", c);
  ASSERT_EQ(run("c.checkpoint -o c.onnx --preprocessing").exit_code, 0);

  const std::vector<float> values = {-9, -1, -0.5F, 0, 0.1F, 1, 1.5F, 2, 3, 3.5F, 4, 5, 7, 8, NAN};
  const auto num_rows = static_cast<int64_t>(values.size());
  data::Matrix features{num_rows, 6, std::vector<float>()};
  auto& numbers = std::get<Array<float>>(features.values);
  for (const float value : values) {
    for (const auto& column : quantiles) {
      // Only the first column has a fill; the others' last row is a number.
      const float cell = std::isnan(value) ? 2 : value;
      numbers.push_back(data::QuantileScale(column, score)(cell));
    }
  }
  Json inputs;
  for (std::size_t i = 0; i < quantiles.size(); ++i) {
    Json data = values;
    data.back() = i == 0 ? Json() : Json(2);
    inputs[c.schema.feature_names[i]] = {
        {"type", "float32"}, {"dims", {num_rows, 1}}, {"data", data}};
  }
  const Json answers =
      run_jobs({{{"model", (folder_.path() / "c.onnx").string()}, {"inputs", inputs}}});
  expect_near(answers.at(0).at("logits").at("data").get<std::vector<double>>(),
              apply::expected_outputs(apply::load_model(folder_.path() / "c.checkpoint"), features,
                                      ExportOutputs::kScores),
              "quantiles");
}

INSTANTIATE_TEST_SUITE_P(EveryScore, OnnxQuantilesTest,
                         testing::Values(data::QuantileScore::kRank, data::QuantileScore::kNormal));

TEST_F(OnnxRuntimeTest, ExportComparesTheOutputs) {
  const std::string library = with_runtime();
  ASSERT_EQ(trainer(test::with_config("penguins.yaml") +
                    "--epochs 2 threads=1 data.embed_above=2 data.missing_indicator=true")
                .exit_code,
            0);
  for (const std::string options : {"", "--softmax --preprocessing", "--batch 8 --preprocessing"}) {
    const ProcessResult result = run("runs/latest -o m.onnx " + options, library);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_NE(result.out.find(fmt::format(
                  "checked     read back, ONNX checker, shape inference\n"
                  "            outputs of {} rows equal within 1e-05 in ONNX Runtime 1.",
                  options.starts_with("--batch") ? 8 : 32)),
              std::string::npos)
        << result.out;
  }
}

TEST_F(OnnxRuntimeTest, MatricesAreStoredAsSmallerNumbers) {
  const std::string library = with_runtime();
  fs::copy(kSource / "configs/data/penguins.csv", path("t.csv"));
  ASSERT_EQ(trainer("data.source=csv data.path=t.csv data.target=species data.test_fraction=0.1 "
                    "data.embed_above=2 recipe=tabm --epochs 3 threads=1")
                .exit_code,
            0);
  uintmax_t larger = std::numeric_limits<uintmax_t>::max();
  for (const char* type : {"float32", "float16", "int8"}) {
    const ProcessResult result =
        run(fmt::format("runs/latest -o m.onnx --weights {}", type), library);
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_NE(result.out.find("outputs of 32 rows equal within 1e-05"), std::string::npos)
        << result.out;
    EXPECT_LT(fs::file_size(path("m.onnx")), larger);
    larger = fs::file_size(path("m.onnx"));
    const bool is_exact = type == std::string("float32");
    EXPECT_EQ(result.out.find("\ndiffers     by at most ") == std::string::npos, is_exact)
        << result.out;
    EXPECT_EQ(result.out.find(" rows of the test split, in brackets with float32: loss ") ==
                  std::string::npos,
              is_exact)
        << result.out;
  }
  fs::remove(path("t.csv"));
  const ProcessResult alone = run("runs/latest -o m.onnx --weights int8", library);
  EXPECT_EQ(alone.exit_code, 0) << alone.err;
  EXPECT_NE(alone.out.find("\nscores      unknown: "), std::string::npos) << alone.out;

  write_model({{.model = "{hidden_sizes: [9, 9], numeric_embedding: periodic, ensemble_size: 3}"}},
              path("made.checkpoint"));
  const ProcessResult periodic = run("made.checkpoint -o m.onnx --weights int8", library);
  EXPECT_EQ(periodic.exit_code, 0) << periodic.err;
  EXPECT_NE(periodic.out.find("outputs of 32 rows equal within 1e-05"), std::string::npos)
      << periodic.out;
}

TEST_F(OnnxRuntimeTest, AModelRepositoryOfTritonHasTheModelAndItsDescription) {
  const std::string library = with_runtime();
  folder_.write("t.csv", "a b,kind,y\n1,p,no\n2,q,yes\n3,p,no\n4,q,yes\n5,p,no\n6,q,yes\n");
  ASSERT_EQ(trainer("data.source=csv data.path=t.csv data.target=y --epochs 1").exit_code, 0);
  const ProcessResult result =
      run("runs/latest --format triton -o served/kinds/ --softmax --preprocessing", library);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.out.find("written     served/kinds/ (NVIDIA Triton, ONNX, opset 13, "),
            std::string::npos)
      << result.out;
  EXPECT_NE(result.out.find("outputs of 32 rows equal"), std::string::npos) << result.out;
  EXPECT_EQ(test::file_names(path("served/kinds")),
            (std::vector<std::string>{"1", "config.pbtxt"}));
  EXPECT_EQ(test::read_file(path("served/kinds/config.pbtxt")),
            "name: \"kinds\"\nbackend: \"onnxruntime\"\nmax_batch_size: 4096\n"
            "dynamic_batching { }\n"
            "input {\n  name: \"a b\"\n  data_type: TYPE_FP32\n  dims: [ 1 ]\n}\n"
            "input {\n  name: \"kind\"\n  data_type: TYPE_STRING\n  dims: [ 1 ]\n}\n"
            "output {\n  name: \"probabilities\"\n  data_type: TYPE_FP32\n  dims: [ 2 ]\n}\n");
  const Json inputs = {{"a b", {{"type", "float32"}, {"dims", {2, 1}}, {"data", {1, 2}}}},
                       {"kind", {{"type", "string"}, {"dims", {2, 1}}, {"data", {"p", "q"}}}}};
  const Json answers =
      run_jobs({{{"model", path("served/kinds/1/model.onnx").string()}, {"inputs", inputs}}});
  EXPECT_EQ(answers.at(0).at("probabilities").at("dims"), Json({2, 2}));

  ASSERT_EQ(run("runs/latest --format triton -o served/fixed --batch 3", library).exit_code, 0);
  const std::string fixed = test::read_file(path("served/fixed/config.pbtxt"));
  EXPECT_TRUE(
      fixed.starts_with("name: \"fixed\"\nbackend: \"onnxruntime\"\nmax_batch_size: 0\n"
                        "input {\n  name: \"features\"\n  data_type: TYPE_FP32\n  dims: [ 3, "))
      << fixed;
  const ProcessResult blocked = run("runs/latest --format triton -o t.csv", library);
  EXPECT_EQ(blocked.exit_code, 8);
  EXPECT_EQ(blocked.err, "error: cannot create the folder t.csv: Not a directory\n");

  ASSERT_EQ(trainer(test::with_config("synthetic.yaml") + "--epochs 1").exit_code, 0);
  const ProcessResult refused =
      run("runs/latest --format triton -o other/pixels --preprocessing", library);
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_FALSE(fs::exists(path("other"))) << "made for a model that was not written";
}

TEST_F(OnnxRuntimeTest, IntervalsAndSetsAreFurtherOutputs) {
  const std::string library = with_runtime();
  const auto outputs_of = [&](const std::string& config, const std::string& options) {
    EXPECT_EQ(trainer(test::with_config(config) + "--epochs 2 threads=1").exit_code, 0);
    const ProcessResult result = run("runs/latest -o m.onnx --interval 0.8 " + options, library);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_NE(result.out.find(" rows equal within 1e-05 in ONNX Runtime 1."), std::string::npos)
        << result.out;
    const apply::Model model = apply::load_model(path("runs/latest"));
    const data::Matrix features = apply::sample_features(model, 8);
    const auto type = apply::takes_doubles(model.schema) ? "float64" : "float32";
    return run_jobs(Json::array({{{"model", path("m.onnx").string()},
                                  {"inputs",
                                   {{"features",
                                     {{"type", type},
                                      {"dims", {8, features.num_columns}},
                                      {"data", apply::in_file_units(model, features)}}}}}}}))
        .at(0);
  };
  const Json numbers = outputs_of("auto_mpg.yaml", "");
  const double distance =
      numbers["upper"]["data"][0].get<double>() - numbers["predictions"]["data"][0].get<double>();
  EXPECT_GT(distance, 0);
  for (std::size_t i = 0; i < 8; ++i) {
    const double predicted = numbers["predictions"]["data"][i];
    EXPECT_NEAR(numbers["upper"]["data"][i], predicted + distance, 1e-4);
    EXPECT_NEAR(numbers["lower"]["data"][i], predicted - distance, 1e-4);
  }
  const Json classes = outputs_of("penguins.yaml", "--softmax");
  EXPECT_EQ(classes["set"]["dims"], classes["probabilities"]["dims"]);
}

TEST_F(OnnxRuntimeTest, AFileCanHaveAFixedNumberOfRows) {
  checkpoint::write(folder_.path() / "c.checkpoint", test::make_checkpoint({.num_features = 2}));
  const ProcessResult result = run("c.checkpoint -o c.onnx --batch 3");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.out.find("input       features: float32 [3, 2]\n"), std::string::npos)
      << result.out;
  const auto job = [&](int num_rows) {
    return Json{{"model", (folder_.path() / "c.onnx").string()},
                {"inputs",
                 {{"features",
                   {{"type", "float32"},
                    {"dims", {num_rows, 2}},
                    {"data", std::vector<float>(static_cast<std::size_t>(2 * num_rows), 1)}}}}}};
  };
  EXPECT_EQ(run_jobs(Json::array({job(3)})).at(0).at("logits").at("dims").at(0), 3);
  folder_.write("jobs.json", Json::array({job(4)}).dump());
  EXPECT_NE(test::run_process("cd " + folder_.path().string() + " && " +
                              test::node_command(kScript) + " jobs.json")
                .err.find("Got: 4 Expected: 3"),
            std::string::npos);
}

/// Penguins with other encodings: columns.onnx, features.onnx and m.pt compute what the program
/// does.
class OnnxEncodingTest : public OnnxRuntimeTest {
 protected:
  apply::Model train(const std::string& options) {
    const ProcessResult trained =
        trainer(test::with_config("penguins.yaml") + "--epochs 2 threads=1 " + options);
    EXPECT_EQ(trained.exit_code, 0) << trained.err;
    return apply::load_model(folder_.path() / "runs/latest");
  }

  void expect_same_outputs(const apply::Model& model);
};

void OnnxEncodingTest::expect_same_outputs(const apply::Model& model) {
  ASSERT_EQ(run("runs/latest -o columns.onnx --preprocessing").exit_code, 0);
  ASSERT_EQ(run("runs/latest -o features.onnx").exit_code, 0);
  ASSERT_EQ(run("runs/latest -o m.pt").exit_code, 0);  // compares its own outputs
  const Cells cells = {{"species", {"Adelie", "Gentoo", "Adelie", "Adelie"}},
                       {"island", {"Biscoe", "Dream", "Atlantis", "?"}},
                       {"sex", {"MALE", "nan", "FEMALE", "other"}},
                       {"body_mass_g", {"3750", "NA", "4000", "5000"}},
                       {"flipper_length_mm", {"181", "186", "200", "190"}},
                       {"beak_length_mm", {"39.1", "40", "50.5", "45"}},
                       {"beak_depth_mm", {"18.7", "17", "19", "15"}}};
  const data::Matrix encoded = features_of(folder_.write("cells.csv", csv_text(cells)), model);
  const Json features = {{"features",
                          {{"type", "float32"},
                           {"dims", {4, encoded.num_columns}},
                           {"data", std::get<Array<float>>(encoded.values)}}}};
  const Json answers =
      run_jobs({{{"model", (folder_.path() / "columns.onnx").string()},
                 {"inputs", make_inputs(model, cells)}},
                {{"model", (folder_.path() / "features.onnx").string()}, {"inputs", features}}});
  for (const Json& answer : answers) {
    expect_near(answer.at("logits").at("data").get<std::vector<double>>(),
                apply::expected_outputs(model, encoded, ExportOutputs::kScores), "encoded columns");
  }
}

// A column of many categories is a number that names a row of a learned table.
TEST_F(OnnxEncodingTest, EmbeddedColumnsAreLookedUp) {
  const apply::Model model = train("data.embed_above=1");
  ASSERT_EQ(
      std::get<network::Embeddings>(model.members.front().network.layers.front()).tables.size(), 2);
  expect_same_outputs(model);
}

TEST_F(OnnxEncodingTest, SignsScaledCategoriesAndTheSmoothClipAreComputed) {
  const apply::Model model = train(
      "data.binary=sign data.scale_categories=true data.smooth_clip=1.5 data.scaling=robust "
      "model.input_scale=true model.numeric_embedding=periodic");
  ASSERT_EQ(model.schema.num_features(), 8);
  expect_same_outputs(model);
}

// Cells are float64 there: seconds since 1970 are no float32. What is missing, or beyond the
// limits.
TEST_F(OnnxRuntimeTest, ColumnsWithOffsetsAreFloat64) {
  const checkpoint::Checkpoint c =
      test::make_checkpoint({.num_features = 3, .labels = {}, .has_offsets = true});
  checkpoint::write(folder_.path() / "c.checkpoint", c);
  const ProcessResult result = run("c.checkpoint -o c.onnx --preprocessing");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.out.find("input       x0: float64 [batch, 1]\n"
                            "            x1: float32 [batch, 1]\n"
                            "            x2: float64 [batch, 1]\n"
                            "output      predictions: float64 [batch, 1]\n"),
            std::string::npos)
      << result.out;
  const Cells cells = {{"x0", {"1700000000.25", "1700000001", "", "1.6e9"}},
                       {"x1", {"0.5", "-7", "", "1"}},
                       {"x2", {"1700000002", "1700000003.125", "1700000001", "1.7e9"}}};
  Json inputs;
  for (const auto& [name, texts] : cells) {
    Json data = Json::array();
    for (const std::string& text : texts) {
      data.push_back(text.empty() ? Json() : Json(std::stod(text)));
    }
    inputs[name] = {{"type", name == "x1" ? "float32" : "float64"},
                    {"dims", {texts.size(), 1}},
                    {"data", std::move(data)}};
  }
  const Json answers =
      run_jobs({{{"model", (folder_.path() / "c.onnx").string()}, {"inputs", inputs}}});
  const apply::Model model = apply::load_model(folder_.path() / "c.checkpoint");
  data::Table table =
      data::read_table_as({folder_.write("cells.csv", csv_text(cells)), csv_format(model)},
                          {.columns = model.schema.columns, .targets = {}});
  const data::Encoded encoded =
      data::encode(model.schema.columns, model.schema.unknown_category, table);
  const std::vector<double> expected =
      apply::expected_outputs(model, encoded.features, ExportOutputs::kScores);
  const auto got = answers.at(0).at("predictions").at("data").get<std::vector<double>>();
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], expected[i], 1e-4) << i;
  EXPECT_NE(expected[0], expected[1]);
}

// Columns with names that the graph would like to give to its own parts.
TEST_F(OnnxRuntimeTest, ColumnsKeepTheirNamesWhateverTheyAre) {
  checkpoint::Checkpoint c = test::make_checkpoint({.num_features = 4});
  c.schema.feature_names = {"logits", "features", "layers.0.weight", "0.IsNaN.output"};
  for (const std::string& name : c.schema.feature_names)
    c.schema.columns.push_back({.name = name, .fill = 0.5F});
  checkpoint::write(folder_.path() / "c.checkpoint", c);
  const ProcessResult result = run("c.checkpoint -o c.onnx --preprocessing");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.out.find("output      logits_of_model: float32 [batch, 3]\n"), std::string::npos)
      << result.out;
  Json inputs;
  for (const std::string& name : c.schema.feature_names) {
    inputs[name] = {{"type", "float32"}, {"dims", {1, 1}}, {"data", {nullptr}}};
  }
  const Json answers =
      run_jobs({{{"model", (folder_.path() / "c.onnx").string()}, {"inputs", inputs}}});
  const apply::Model model = apply::load_model(folder_.path() / "c.checkpoint");
  expect_near(
      answers.at(0).at("logits_of_model").at("data").get<std::vector<double>>(),
      apply::expected_outputs(model, {1, 4, std::vector<float>(4, 0.5F)}, ExportOutputs::kScores),
      "fills");
}

}  // namespace
}  // namespace trainer
