// SPDX-License-Identifier: Apache-2.0
// Drives `trainer export`, and runs what it wrote with the programs that such files are for.
#include "trainer/apply/export.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "trainer/apply/export_samples.h"
#include "trainer/apply/model.h"
#include "trainer/checkpoint/checkpoint.h"
#include "trainer/core/json.h"
#include "trainer/core/parse.h"
#include "trainer/data/csv.h"
#include "trainer/data/encode.h"
#include "trainer/data/scaling.h"

#include "support/files.h"
#include "support/process.h"
#include "support/program_test.h"
#include "support/python.h"
#include "support/synthetic_models.h"
#include "support/temporary_folder.h"
#include "support/trainer_program.h"

namespace trainer {
namespace {

namespace fs = std::filesystem;
using apply::ExportOutputs;
using test::kSource;
using test::ModelRecipe;
using test::ProcessResult;

#ifdef TRAINER_HAS_ONNX
constexpr bool kHasOnnx = true;
#else
constexpr bool kHasOnnx = false;
#endif

/// A made-up model and how it is exported.
struct Case {
  ModelRecipe recipe;
  ExportOutputs outputs = ExportOutputs::kScores;
};

std::vector<Case> cases() {
  constexpr auto kProbabilities = ExportOutputs::kProbabilities;
  const std::vector<std::string> two = {"no", "yes"};
  std::vector<Case> all = {
      {{}, kProbabilities},
      {{.model = "{hidden_sizes: [16, 7]}", .is_averaged = true}},
      {{.training = "{loss: binary_cross_entropy}", .labels = two}, kProbabilities},
      {{.training = "{loss: binary_cross_entropy}", .labels = two}},
      {{.labels = two}, kProbabilities},
      {{.labels = {}, .num_targets = 3}},
      {{.has_offsets = true}},
      {{.has_smooth_clip = true}},
      {{.labels = {}, .num_targets = 2, .clips_predictions = true}},
      {{.labels = {}, .num_targets = 2, .has_offsets = true}},
      {{.model = "{hidden_sizes: [6], norm: layer}", .labels = {}}},
      {{.model = "{hidden_sizes: [4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4], residual: true}"}}};
  for (const char* part : {"input_scale: true", "numeric_embedding: periodic",
                           "parametric_activation: true, activation: mish",
                           "input_scale: true, numeric_embedding: periodic, activation: selu, "
                           "parametric_activation: true"}) {
    all.push_back({{.model = fmt::format("{{hidden_sizes: [9, 9], {}}}", part)}, kProbabilities});
  }
  for (const std::string& activation : enum_names<config::Activation>()) {
    for (const char* norm : {"none", "batch", "layer"}) {
      const std::string residual = *norm == 'n' ? "false" : "true";
      all.push_back({{.model = fmt::format("{{hidden_sizes: [9, 9, 9], activation: {}, norm: {}, "
                                           "residual: {}}}",
                                           activation, norm, residual)}});
    }
  }
  return all;
}

void expect_near(const std::vector<double>& got, const std::vector<double>& expected,
                 const std::string& what) {
  ASSERT_EQ(got.size(), expected.size()) << what;
  for (std::size_t i = 0; i < got.size(); ++i) {
    EXPECT_NEAR(got[i], expected[i], 1e-5 * std::clamp(std::abs(expected[i]), 1.0, 1e3))
        << what << ", place " << i;
  }
}

class ExportTest : public test::ProgramTest {
 protected:
  ProcessResult run(const std::string& arguments, const std::string& environment = "") const {
    return trainer("export " + arguments, environment);
  }

  /// Writes the model of a case, exports it and returns it, with one job for the other program.
  apply::Model exported(const Case& wanted, const std::string& name, Json& jobs) const {
    const fs::path checkpoint = folder_.path() / (name + ".checkpoint");
    checkpoint::write(checkpoint, test::make_checkpoint(wanted.recipe));
    const bool softmax = wanted.outputs == ExportOutputs::kProbabilities;
    const ProcessResult result = run(
        fmt::format("{} --output {} {}", checkpoint.string(), name, softmax ? "--softmax" : ""));
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_NE(result.out.find("\nchecked "), std::string::npos) << result.out;
    apply::Model model = apply::load_model(checkpoint);
    const data::Matrix features = apply::sample_features(model, kNumRows);
    jobs.push_back({{"model", (folder_.path() / name).string()},
                    {"inputs",
                     {{"features",
                       {{"type", apply::takes_doubles(model.schema) ? "float64" : "float32"},
                        {"dims", {features.num_rows, features.num_columns}},
                        {"data", apply::in_file_units(model, features)}}}}}});
    return model;
  }

  static std::vector<double> expected(const apply::Model& model, ExportOutputs outputs) {
    return apply::expected_outputs(model, apply::sample_features(model, kNumRows), outputs);
  }

  Json run_python(const std::string& command) const {
    const ProcessResult result =
        test::run_process("cd " + folder_.path().string() + " && " + command);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return result.exit_code == 0 ? parse_json(result.out) : Json();
  }

  std::vector<std::string> names_here() const { return test::file_names(folder_.path()); }

  static constexpr int64_t kNumRows = 7;
};

// ---- ONNX Runtime ----

class OnnxRuntimeTest : public ExportTest {
 protected:
  void SetUp() override {
    if (!kHasOnnx) GTEST_SKIP() << "this build has no ONNX; scripts/setup.sh build";
    if (test::run_process(node() + " probe").exit_code != 0) {
      GTEST_SKIP() << "ONNX Runtime for Node is not here; scripts/setup.sh test";
    }
  }

  // Where scripts/setup.sh puts it, unless NODE_PATH says otherwise.
  static std::string node() {
    const fs::path modules = kSource / "build/node/node_modules";
    return fmt::format("NODE_PATH=${{NODE_PATH:-{}}} node {}", modules.string(),
                       (kSource / "tests/end_to_end/run_onnx.js").string());
  }

  Json run_jobs(const Json& jobs) const {
    folder_.write("jobs.json", jobs.dump());
    return run_python(node() + " jobs.json");
  }
};

TEST_F(OnnxRuntimeTest, AnswersAsThisProgramDoes) {
  Json jobs = Json::array();
  std::vector<apply::Model> models;
  const std::vector<Case> all = cases();
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

/// Cells as they stand in a file, by column.
using Cells = std::vector<std::pair<std::string, std::vector<std::string>>>;

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
  const apply::Model model = apply::load_model(folder_.path() / "runs/latest");
  Json jobs = Json::array();
  jobs.push_back({{"model", (folder_.path() / "columns.onnx").string()},
                  {"inputs", make_inputs(model, cells)}});
  const Json answers = run_jobs(jobs);

  const fs::path csv = folder_.write("cells.csv", csv_text(cells));
  data::Table table = data::read_csv_as(
      csv, {.columns = model.schema.columns, .targets = model.schema.target_names},
      csv_format(model));
  const data::Encoded encoded =
      data::encode(model.schema.columns, model.schema.unknown_category, table);
  expect_near(answers.at(0).at("probabilities").at("data").get<std::vector<double>>(),
              apply::expected_outputs(model, encoded.features, ExportOutputs::kProbabilities),
              "penguins");
}

TEST_F(OnnxRuntimeTest, NumbersBecomeTheirPlacesAmongQuantiles) {
  checkpoint::Checkpoint c = test::make_checkpoint({.num_features = 6});
  const std::vector<std::vector<float>> quantiles = {
      {-1, 0, 2, 5}, {0, 0, 0, 1, 1, 4}, {1, 2, 2, 3, 3, 3}, {7, 7, 7}, {0.1F}, {-3, 1e6F}};
  c.schema.scaling = {std::vector<float>(6, 0), std::vector<float>(6, 1)};
  for (std::size_t i = 0; i < quantiles.size(); ++i) {
    c.schema.columns.push_back({.name = c.schema.feature_names[i], .quantiles = quantiles[i]});
    if (i == 0) c.schema.columns[0].fill = 2;
  }
  checkpoint::write(folder_.path() / "c.checkpoint", c);
  ASSERT_EQ(run("c.checkpoint -o c.onnx --preprocessing").exit_code, 0);

  const std::vector<float> values = {-9, -1, -0.5F, 0, 0.1F, 1, 1.5F, 2, 3, 3.5F, 4, 5, 7, 8, NAN};
  const auto num_rows = static_cast<int64_t>(values.size());
  data::Matrix features{num_rows, 6, std::vector<float>()};
  auto& numbers = std::get<std::vector<float>>(features.values);
  for (const float value : values) {
    for (const auto& column : quantiles) {
      // Only the first column has a fill; the others' last row is a number.
      const float cell = std::isnan(value) ? 2 : value;
      numbers.push_back(data::quantile_rank(column, cell));
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
  const fs::path csv = folder_.write("cells.csv", csv_text(cells));
  data::Table table = data::read_csv_as(
      csv, {.columns = model.schema.columns, .targets = model.schema.target_names},
      csv_format(model));
  const data::Encoded encoded =
      data::encode(model.schema.columns, model.schema.unknown_category, table);
  const Json features = {{"features",
                          {{"type", "float32"},
                           {"dims", {4, encoded.features.num_columns}},
                           {"data", std::get<std::vector<float>>(encoded.features.values)}}}};
  const Json answers =
      run_jobs({{{"model", (folder_.path() / "columns.onnx").string()},
                 {"inputs", make_inputs(model, cells)}},
                {{"model", (folder_.path() / "features.onnx").string()}, {"inputs", features}}});
  for (const Json& answer : answers) {
    expect_near(answer.at("logits").at("data").get<std::vector<double>>(),
                apply::expected_outputs(model, encoded.features, ExportOutputs::kScores),
                "encoded columns");
  }
}

// A column of many categories is a number that names a row of a table which is learnt.
TEST_F(OnnxEncodingTest, EmbeddedColumnsAreLookedUp) {
  const apply::Model model = train("data.embed_above=1");
  ASSERT_EQ(std::get<network::Embeddings>(model.network.layers.front()).tables.size(), 2);
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
      data::read_csv_as(folder_.write("cells.csv", csv_text(cells)),
                        {.columns = model.schema.columns, .targets = {}}, csv_format(model));
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

// ---- Python ----

class PythonExportTest : public ExportTest {
 protected:
  static constexpr const char* kScript = "end_to_end/read_exports.py";
};

TEST_F(PythonExportTest, PytorchLoadsTorchScriptAndAnswersAsThisProgramDoes) {
  const std::string missing = test::missing_for(kScript);
  if (!missing.empty()) GTEST_SKIP() << missing;
  const std::vector<Case> few = {
      {{.model = "{hidden_sizes: [9, 9], activation: gelu, norm: batch, residual: true}"},
       ExportOutputs::kProbabilities},
      {{.model = "{hidden_sizes: [6], activation: silu, norm: layer}", .is_averaged = true}},
      {{.training = "{loss: binary_cross_entropy}", .labels = {"no", "yes"}},
       ExportOutputs::kProbabilities},
      {{.model = "{hidden_sizes: [4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4], activation: tanh}",
        .labels = {},
        .num_targets = 2}},
      {{.labels = {}, .num_targets = 2, .has_offsets = true}}};
  Json jobs = Json::array();
  std::vector<apply::Model> models;
  for (std::size_t i = 0; i < few.size(); ++i) {
    models.push_back(exported(few[i], fmt::format("{}.pt", i), jobs));
  }
  folder_.write("jobs.json", jobs.dump());
  const Json answers = run_python(test::python_script(kScript) + "torchscript jobs.json");
  ASSERT_EQ(answers.size(), few.size());
  for (std::size_t i = 0; i < few.size(); ++i) {
    expect_near(answers[i]["data"].get<std::vector<double>>(), expected(models[i], few[i].outputs),
                few[i].recipe.model);
    const auto names = answers[i]["names"].get<std::vector<std::string>>();
    for (const checkpoint::NamedTensor& weight : models[i].weights) {
      EXPECT_NE(std::find(names.begin(), names.end(), weight.name), names.end()) << weight.name;
    }
    EXPECT_EQ(answers[i]["labels"], Json(models[i].schema.labels));
  }
}

TEST_F(PythonExportTest, SafetensorsHaveNamesShapesAndNumbersOfTheStateDict) {
  if (test::run_process(test::python() + " --version").exit_code != 0) {
    GTEST_SKIP() << test::python() << " is not here; set TRAINER_PYTHON";
  }
  Json jobs;
  const apply::Model model = exported(
      {{.model = "{hidden_sizes: [6], norm: batch}", .is_averaged = true}}, "m.safetensors", jobs);
  const Json answer = run_python(test::python_script(kScript) + "safetensors m.safetensors");
  ASSERT_EQ(answer["tensors"].size(), model.weights.size());
  for (const checkpoint::NamedTensor& weight : model.weights) {
    const Json& tensor = answer["tensors"].at(weight.name);
    EXPECT_EQ(tensor["shape"], Json(weight.tensor.shape));
    const float* values = apply::float_values(weight.tensor);
    EXPECT_EQ(tensor["data"].get<std::vector<float>>(),
              std::vector<float>(values, values + weight.tensor.num_elements()));
  }
  const Json& metadata = answer["metadata"];
  EXPECT_EQ(metadata["format"], "pt");
  EXPECT_EQ(metadata["labels"], R"(["a","b","c"])");
  EXPECT_EQ(metadata["checkpoint"], "m.safetensors.checkpoint");
  EXPECT_EQ(metadata["epoch"], "3");
  EXPECT_EQ(metadata["averaged_weights"], "true");
}

// ---- the command ----

TEST_F(ExportTest, AnExportIsWhereAnotherRunMayBegin) {
  const std::string train_command =
      "threads=1 --epochs 1 model.hidden_sizes=[8] data.synthetic.num_samples=64";
  ASSERT_EQ(trainer(train_command).exit_code, 0);
  ASSERT_EQ(run("runs/latest -o first.safetensors").exit_code, 0);
  const ProcessResult next = trainer(train_command + " model.init_from=first.safetensors");
  EXPECT_EQ(next.exit_code, 0) << next.err;
  EXPECT_NE(next.err.find("from " + (folder_.path() / "first.safetensors").string()),
            std::string::npos)
      << next.err;
  const ProcessResult other =
      trainer(train_command + " model.init_from=first.safetensors model.hidden_sizes=[9]");
  EXPECT_EQ(other.exit_code, 7);
  EXPECT_NE(other.err.find("model layers.0.weight: expected float32 [9, "), std::string::npos)
      << other.err;
}

TEST_F(ExportTest, AnExportThatIsHandedBackIsRecognised) {
  checkpoint::write(folder_.path() / "c.checkpoint", test::make_checkpoint({.labels = {}}));
  std::vector<std::pair<std::string, std::string>> exports = {{"m.safetensors", "safetensors"},
                                                              {"m.pt", "TorchScript"}};
  if (kHasOnnx) exports.emplace_back("m.onnx", "ONNX");
  for (const auto& [file, format] : exports) {
    ASSERT_EQ(run("c.checkpoint -o " + file).exit_code, 0);
    for (const std::string command : {"verify ", "inspect ", "eval ", "--resume "}) {
      const ProcessResult result = trainer(command + file);
      EXPECT_EQ(result.exit_code, 7) << command << file;
      EXPECT_NE((result.out + result.err)
                    .find(file + ": is an export (" + format +
                          "), not a checkpoint; give the run or the checkpoint that it was "
                          "exported from\n"),
                std::string::npos)
          << command << result.out << result.err;
    }
  }
}

TEST_F(ExportTest, AFileThatIsThereIsReplacedOnSuccessOnly) {
  checkpoint::write(folder_.path() / "c.checkpoint", test::make_checkpoint({.labels = {}}));
  folder_.write("m.safetensors", "old");
  folder_.write("m.onnx", "old");
  folder_.write("m.pt", "old");
  const std::vector<std::string> before = names_here();
  for (const char* output : {"m.safetensors", "m.onnx", "m.pt"}) {
    // So that a file cannot grow beyond 512 bytes.
    const ProcessResult full = run(fmt::format("c.checkpoint -o {}", output), "ulimit -f 1;");
    EXPECT_EQ(full.exit_code, 8) << full.err;
    EXPECT_EQ(test::read_file(folder_.path() / output), "old") << output;
  }
  EXPECT_EQ(run("c.checkpoint -o m.pt --softmax").exit_code, 2);
  EXPECT_EQ(test::read_file(folder_.path() / "m.pt"), "old");
  EXPECT_EQ(names_here(), before);
  EXPECT_EQ(run("c.checkpoint -o m.safetensors").exit_code, 0);
  EXPECT_GT(fs::file_size(folder_.path() / "m.safetensors"), 100U);
  EXPECT_EQ(names_here(), before);
}

// An installation to which nobody brought the part that writes ONNX files.
TEST_F(ExportTest, WithoutItsOnnxPartTheProgramSaysWhatToInstall) {
  const fs::path built = fs::path(test::kTrainer).parent_path().parent_path();
  fs::create_directories(folder_.path() / "bin");
  fs::create_directories(folder_.path() / "lib");
  fs::copy(built / "bin/trainer", folder_.path() / "bin/trainer");
  for (const auto& entry : fs::directory_iterator(built / "lib")) {
    const std::string name = entry.path().filename();
    if (name.starts_with("libtrainer_core.")) fs::copy(entry, folder_.path() / "lib" / name);
  }
  const ProcessResult result = test::run_process("cd " + folder_.path().string() +
                                                 " && bin/trainer export anything -o m.onnx");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.err,
            "error: --format onnx: this build has no ONNX support; install ONNX (Debian, Ubuntu: "
            "apt-get install libonnx-dev; macOS: brew install onnx) and build again, or export to "
            ".safetensors or .pt\n");
}

TEST_F(ExportTest, WhatCannotBeIsRefusedWithItsReason) {
  checkpoint::write(folder_.path() / "c.checkpoint", test::make_checkpoint({.labels = {}}));
  const auto refused = [&](const std::string& arguments, int exit_code) {
    const ProcessResult result = run(arguments);
    EXPECT_EQ(result.exit_code, exit_code) << arguments;
    EXPECT_EQ(result.out, "");
    return result.err;
  };
  EXPECT_EQ(
      refused("c.checkpoint -o m.pt --softmax", 2),
      "error: --softmax: c.checkpoint is a regression model without classes; remove this option\n");
  EXPECT_EQ(refused("c.checkpoint -o c.checkpoint --format safetensors", 2),
            "error: --output: c.checkpoint is the model itself; choose another name\n");
  EXPECT_EQ(refused("none.checkpoint -o m.safetensors", 7).find("error: none.checkpoint: "), 0U);
  EXPECT_EQ(refused("c.checkpoint -o nowhere/m.safetensors", 8),
            "error: cannot write nowhere/m.safetensors: No such file or directory\n");
  if (kHasOnnx) {
    EXPECT_EQ(refused("c.checkpoint -o m.onnx --preprocessing", 2),
              "error: --preprocessing: the model was not trained on a table with columns; export "
              "without it: the input is then the feature matrix\n");
  } else {
    EXPECT_NE(refused("c.checkpoint -o m.onnx", 2).find("this build has no ONNX support"),
              std::string::npos);
  }
  EXPECT_EQ(names_here(), std::vector<std::string>{"c.checkpoint"});
}

}  // namespace
}  // namespace trainer
