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

#include "trainer/apply/model.h"
#include "trainer/base/io/optional_library.h"
#include "trainer/base/text/json.h"
#include "trainer/run/checkpoint/checkpoint.h"

#include "end_to_end/export_fixture.h"
#include "support/files.h"
#include "support/process.h"
#include "support/python.h"
#include "support/synthetic_models.h"
#include "support/temporary_folder.h"
#include "support/trainer_program.h"

namespace trainer {
namespace {

namespace fs = std::filesystem;
using apply::ExportOutputs;
using test::expect_near;
using test::ExportCase;
using test::kHasOnnx;
using test::ProcessResult;

class ExportTest : public test::ExportTestBase {};

// ---- Python ----

class PythonExportTest : public test::ExportTestBase {
 protected:
  static constexpr const char* kScript = "end_to_end/read_exports.py";
};

TEST_F(PythonExportTest, PytorchLoadsTorchScriptAndAnswersAsThisProgramDoes) {
  const std::string missing = test::missing_for(kScript);
  if (!missing.empty()) GTEST_SKIP() << missing;
  const std::vector<ExportCase> few = {
      {{.model = "{hidden_sizes: [9, 9], activation: gelu, norm: batch, residual: true}"},
       ExportOutputs::kProbabilities},
      {{.model = "{hidden_sizes: [6], activation: silu, norm: layer}", .is_averaged = true}},
      {{.training = "{loss: binary_cross_entropy}", .labels = {"no", "yes"}},
       ExportOutputs::kProbabilities},
      {{.model = "{hidden_sizes: [4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4], activation: tanh}",
        .labels = {},
        .num_targets = 2}},
      {{.labels = {}, .num_targets = 2, .has_offsets = true}},
      {{.model = "{hidden_sizes: [9], numeric_embedding: periodic, input_scale: true}"},
       ExportOutputs::kScores,
       3},
      {{.training = "{loss: binary_cross_entropy}", .labels = {"no", "yes"}},
       ExportOutputs::kScores,
       3},
      {{.model = "{hidden_sizes: [9], ensemble_size: 3}"}, ExportOutputs::kProbabilities},
      {{.model = "{hidden_sizes: [9], ensemble_size: 3}"},
       ExportOutputs::kProbabilities,
       2,
       "{hidden_sizes: [7, 5], numeric_embedding: periodic}"},
      {{.model = "{hidden_sizes: [9], numeric_embedding: piecewise_linear, num_bins: 6}"}},
      {{.model = "{hidden_sizes: [9], ensemble_size: 3}",
        .training = "{loss: binary_cross_entropy}",
        .labels = {"no", "yes"}}},
      {{.model = "{hidden_sizes: [9], ensemble_size: 3}", .labels = {}, .num_targets = 2}}};
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
    for (const checkpoint::NamedTensor& weight : models[i].members.front().weights) {
      const std::string name = apply::member_prefix(models[i], 0) + weight.name;
      EXPECT_NE(std::find(names.begin(), names.end(), name), names.end()) << name;
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
  ASSERT_EQ(answer["tensors"].size(), model.members.front().weights.size());
  for (const checkpoint::NamedTensor& weight : model.members.front().weights) {
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
            "error: --format onnx: this trainer has no ONNX support; install the package "
            "trainer-onnx, or ONNX (Debian, Ubuntu: apt-get install libonnx-dev; macOS: brew "
            "install onnx) and build again, or export to .safetensors or .pt\n");
}

TEST_F(ExportTest, ALibraryThatIsNotOnnxRuntimeIsNamed) {
  if (!kHasOnnx) GTEST_SKIP() << "this build has no ONNX; scripts/setup.sh build";
  checkpoint::write(folder_.path() / "c.checkpoint", test::make_checkpoint({.labels = {}}));
  const fs::path another = fs::path(test::kTrainer).parent_path().parent_path() / "lib" /
                           library_file_name("trainer_core");
  const ProcessResult result =
      run("c.checkpoint -o m.onnx", "TRAINER_ONNXRUNTIME_LIBRARY=" + another.string());
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.err, "error: TRAINER_ONNXRUNTIME_LIBRARY: expected the path of " +
                            library_file_name("onnxruntime") +
                            ", got another library; correct it, or unset it\n");
  EXPECT_EQ(names_here(), std::vector<std::string>{"c.checkpoint"});
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
  EXPECT_EQ(refused("c.checkpoint -o m.pt --batch 8", 2),
            "error: --batch: only supported for ONNX; use --format onnx\n");
  EXPECT_EQ(refused("c.checkpoint -o m.onnx --batch 0", 2),
            "error: --batch: expected an integer >= 1, got \"0\"\n");
  if (kHasOnnx) {
    EXPECT_EQ(refused("c.checkpoint -o m.onnx --preprocessing", 2),
              "error: --preprocessing: the model was not trained on a table with columns; export "
              "without it: the input is then the feature matrix\n");
  } else {
    EXPECT_NE(refused("c.checkpoint -o m.onnx", 2).find("this trainer has no ONNX support"),
              std::string::npos);
  }
  EXPECT_EQ(names_here(), std::vector<std::string>{"c.checkpoint"});
}

}  // namespace
}  // namespace trainer
