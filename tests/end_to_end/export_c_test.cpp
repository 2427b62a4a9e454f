// SPDX-License-Identifier: Apache-2.0
// Compiles what `trainer export --format c` writes, and compares what it predicts.
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "trainer/apply/export_samples.h"
#include "trainer/apply/model.h"

#include "end_to_end/export_fixture.h"
#include "support/files.h"
#include "support/process.h"

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
    test::expect_near(printed(name, program), expected(model, test::ExportOutputs::kProbabilities),
                      fmt::format("{} {}", name, one.recipe.model));
  }
  EXPECT_GT(number, 40);
}

// Raw cells: numbers, some missing, and texts with quotes, trigraphs and ends of comments.
TEST_F(ExportCTest, ARowOfATablePredictsAsItsLineDoes) {
  const std::vector<std::string> kinds = {R"(say "hi")",
                                          "*/ ?"
                                          "?/",
                                          "k\\n"};
  std::string table = "int,2nd column,kind,y\n";
  for (int i = 0; i < 120; ++i) {
    const std::string second = i % 9 == 0 ? "" : fmt::format("{}", 0.5 * (i * 37 % 41));
    std::string kind = kinds[static_cast<std::size_t>(i) % 3];
    if (i % 3 == 0) kind = R"("say ""hi""")";
    table += fmt::format("{},{},{},{}\n", i * 53 % 29, second, kind, i * 31 % 17 + 2 * (i % 3));
  }
  folder_.write("t.csv", table);
  const ProcessResult trained = trainer(
      "recipe=realmlp training.epochs=4 data.source=csv data.path=t.csv data.target=y "
      "data.task=regression");
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  ASSERT_EQ(run("runs/latest --output model.c").exit_code, 0);
  folder_.write("new.csv",
                "int,2nd column,kind\n3,1.5,\"say \"\"hi\"\"\"\n7,,*/ ?"
                "?/\n20,8,k\\n\n4,2,unseen\n");
  const ProcessResult predicted = trainer("predict runs/latest --data new.csv");
  ASSERT_EQ(predicted.exit_code, 0) << predicted.err;
  std::vector<double> expected;
  for (const std::string& line : test::lines_of(predicted.out)) {
    if (line != "prediction") expected.push_back(std::stod(line));
  }
  const std::vector<double> got =
      printed("model",
              "static void show(double a, double b, const char *kind) {\n"
              "  model_row row;\n  double y[1];\n"
              "  row.int_ = a; row.c2nd_column = b; row.kind = kind;\n"
              "  if (model_predict(&row, y) != 0) y[0] = -1;\n"
              "  printf(\"%.17g\\n\", y[0]);\n}\n"
              "int main(void) {\n"
              "  show(3, 1.5, \"say \\\"hi\\\"\"); show(7, NAN, \"*/ ?\" \"?/\"); show(20, 8, "
              "\"k\\\\n\");\n"
              "  show(4, 2, \"unseen\");\n  return 0;\n}\n");
  ASSERT_EQ(got.size(), expected.size()) << predicted.out;
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], expected[i], 1e-4) << i;
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
            "error: --preprocessing: a C file always takes the raw columns too; remove this "
            "option\n");
  EXPECT_FALSE(fs::exists(folder_.path() / "m.c"));
}

}  // namespace
}  // namespace trainer
