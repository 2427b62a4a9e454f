// SPDX-License-Identifier: Apache-2.0
// Compiles what `trainer export --format c` writes, and compares what it predicts.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "trainer/apply/export_samples.h"
#include "trainer/apply/model.h"
#include "trainer/run/checkpoint/checkpoint.h"

#include "end_to_end/export_fixture.h"
#include "support/checkpoints.h"
#include "support/files.h"
#include "support/process.h"
#include "support/synthetic_models.h"

namespace trainer {
namespace {

namespace fs = std::filesystem;
using test::ExportCase;
using test::ProcessResult;

class ExportCTest : public test::ExportTestBase {
 protected:
  /// Compiles a program with the exported file `name`.c and this text, and returns what it prints.
  std::vector<double> printed(const std::string& name, const std::string& text) const {
    folder_.write(name + "_main.c",
                  fmt::format("#include <stdio.h>\n#include \"{}.c\"\n{}", name, text));
    const ProcessResult result = test::run_process(
        fmt::format("cd {0} && cc -std=c99 -pedantic -Wall -Wextra -Werror -O1 -o {1} {1}_main.c "
                    "-lm && ./{1}",
                    folder_.path().string(), name));
    EXPECT_EQ(result.exit_code, 0) << result.err;
    std::vector<double> numbers;
    for (const std::string& line : test::lines_of(result.out)) numbers.push_back(std::stod(line));
    return numbers;
  }
};

// The file computes in float64, this program in float32: they differ by its rounding.
void expect_same(const std::vector<double>& got, const std::vector<double>& expected,
                 const std::string& what) {
  ASSERT_EQ(got.size(), expected.size()) << what;
  double scale = 1;
  for (const double value : expected) scale = std::max(scale, std::abs(value));
  for (std::size_t i = 0; i < got.size(); ++i) {
    EXPECT_NEAR(got[i], expected[i], 1e-6 * scale) << what << ", place " << i;
  }
}

// One call for each row of features, whose outputs are a line each.
std::string feature_program(const std::string& name, const std::vector<double>& features,
                            int64_t num_rows) {
  return fmt::format(
      "static const double features[{1} * {0}_NUM_FEATURES] = {{{2:.17g}}};\n"
      "int main(void) {{\n"
      "  int row, i;\n"
      "  for (row = 0; row < {1}; row++) {{\n"
      "    double outputs[{0}_NUM_OUTPUTS];\n"
      "    {0}_predict_features(features + row * {0}_NUM_FEATURES, outputs);\n"
      "    for (i = 0; i < {0}_NUM_OUTPUTS; i++) printf(\"%.17g\\n\", outputs[i]);\n"
      "  }}\n"
      "  return 0;\n}}\n",
      name, num_rows, fmt::join(features, ","));
}

TEST_F(ExportCTest, CompiledFilesPredictAsThisProgramDoes) {
  int number = 0;
  for (const ExportCase& one : test::export_cases()) {
    const std::string name = fmt::format("m{}", number++);
    const fs::path checkpoint = folder_.path() / (name + ".checkpoint");
    write_model(one, checkpoint);
    const ProcessResult result = run(fmt::format("{} --output {}.c", checkpoint.string(), name));
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const apply::Model model = apply::load_model(checkpoint);
    const data::Matrix features = apply::sample_features(model, kNumRows);
    const std::string program =
        feature_program(name, apply::in_file_units(model, features), kNumRows);
    expect_same(printed(name, program), expected(model, test::ExportOutputs::kProbabilities),
                fmt::format("{} {}", name, one.recipe.model));
  }
  EXPECT_GT(number, 40);
}

TEST_F(ExportCTest, WeightsKeepAllTheirBits) {
  const std::vector<float> values = {-0.0F, 1e-45F, -3.4e38F, 1.0F / 3,
                                     -7,    0,      0.1F,     1.1754942e-38F};
  checkpoint::Checkpoint model = test::make_checkpoint({});
  ASSERT_EQ(model.model[1].name, "layers.0.bias");
  model.model[1].tensor = test::float_data({8}, values);
  checkpoint::write(folder_.path() / "m.checkpoint", model);
  ASSERT_EQ(run("m.checkpoint --output m.c").exit_code, 0);
  const std::vector<double> bits = printed(
      "m",
      "int main(void) {\n  double x[m_NUM_FEATURES] = {0}, y[m_NUM_OUTPUTS];\n  size_t i;\n"
      "  m_predict_features(x, y);\n"
      "  for (i = 0; i < sizeof weights / sizeof weights[0]; i++) {\n    uint32_t bits;\n"
      "    memcpy(&bits, &weights[i], sizeof bits);\n    printf(\"%.0f\\n\", (double)bits);\n"
      "  }\n  return 0;\n}\n");
  std::vector<double> expected;
  for (const float value : values) expected.push_back(std::bit_cast<uint32_t>(value));
  EXPECT_NE(std::search(bits.begin(), bits.end(), expected.begin(), expected.end()), bits.end());
}

// Raw cells: numbers, some missing, dates, and texts with quotes, trigraphs and ends of comments.
TEST_F(ExportCTest, ARowOfATablePredictsAsItsLineDoes) {
  const std::vector<std::string> kinds = {R"("say ""hi""")",
                                          "*/ ?"
                                          "?/",
                                          "k\\n"};
  std::string table = "int,2nd column,kind,when,y\n";
  for (int i = 0; i < 120; ++i) {
    const std::string second = i % 9 == 0 ? "" : fmt::format("{}", 0.5 * (i * 37 % 41));
    table += fmt::format("{},{},{},2026-{:02}-{:02},{}\n", i * 53 % 29, second,
                         kinds[static_cast<std::size_t>(i) % 3], i % 12 + 1, i * 11 % 28 + 1,
                         i * 31 % 17 + 2 * (i % 3));
  }
  folder_.write("t.csv", table);
  const ProcessResult trained = trainer(
      "recipe=realmlp training.epochs=4 data.source=csv data.path=t.csv data.target=y "
      "data.task=regression data.dates=[month,seconds]");
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  ASSERT_EQ(run("runs/latest --output model.c --interval 0.5").exit_code, 0);
  folder_.write("new.csv",
                "int,2nd column,kind,when\n3,1.5,\"say \"\"hi\"\"\",2026-03-01\n7,,*/ ?"
                "?/,\n20,8,k\\n,2026-12-31\n4,2,unseen,1970-01-01 00:01\n");
  const ProcessResult predicted = trainer("predict runs/latest --data new.csv --interval 0.5");
  ASSERT_EQ(predicted.exit_code, 0) << predicted.err;
  std::vector<double> expected;
  const std::vector<std::vector<std::string>> rows = test::cells_of(predicted.out);
  EXPECT_EQ(rows.front(), (std::vector<std::string>{"prediction", "lower", "upper"}));
  for (auto row = rows.begin() + 1; row != rows.end(); ++row) {
    for (const std::string& cell : *row) expected.push_back(std::stod(cell));
  }
  const std::string program =
      "static void show(double a, double b, const char *kind, double month, double seconds) {\n"
      "  model_row row;\n  double y[1];\n"
      "  row.int_ = a; row.c2nd_column = b; row.kind = kind;\n"
      "  row.when_month = month; row.when_seconds = seconds;\n"
      "  if (model_predict(&row, y) != 0) y[0] = -1;\n"
      "  printf(\"%.17g\\n%.17g\\n%.17g\\n\", y[0], y[0] - model_bounds[0], "
      "y[0] + model_bounds[0]);\n}\n"
      "int main(void) {\n"
      "  show(3, 1.5, \"say \\\"hi\\\"\", 3, 1772323200); show(7, NAN, \"*/ ?\" \"?/\", NAN, "
      "NAN);\n"
      "  show(20, 8, \"k\\\\n\", 12, 1798675200); show(4, 2, \"unseen\", 1, 60);\n"
      "  return 0;\n}\n";
  expect_same(printed("model", program), expected, predicted.out);
}

TEST_F(ExportCTest, OptionsOfOtherFormatsAreRefused) {
  const auto refused = [&](const std::string& options) {
    const ProcessResult result = run("runs --output m.c " + options);
    EXPECT_EQ(result.exit_code, 2);
    return result.err;
  };
  EXPECT_EQ(refused("--softmax"),
            "error: --softmax: a C file always returns probabilities; remove this option\n");
  EXPECT_EQ(refused("--preprocessing"),
            "error: --preprocessing: a C file always takes the raw columns; remove this option\n");
  EXPECT_FALSE(fs::exists(folder_.path() / "m.c"));
}

}  // namespace
}  // namespace trainer
