// SPDX-License-Identifier: Apache-2.0
#include "cli/help_text.h"

#include <cstddef>
#include <iterator>
#include <string_view>

#include <fmt/format.h>

#include "trainer/base/version.h"
#include "trainer/run/folder/libraries.h"
#include "trainer/run/folder/system_info.h"

namespace trainer::cli {
namespace {

constexpr ExitCode kExitCodes[] = {
    {0, "success", "Success"},
    {1, "failure", "A failure without a more specific code"},
    {2, "usage or configuration", "The command line or the configuration is wrong"},
    {3, "data", "A data file is missing, or its content is wrong"},
    {4, "device", "The device or backend is missing or broken"},
    {5, "out of memory", "Memory ran out, after all retries"},
    {6, "non-finite loss or gradient", "A loss or gradient is not finite"},
    {7, "checkpoint", "A checkpoint is unreadable, or of another run"},
    {8, "file system", "The file system is full, not writable, or in use by another process"},
    {9, "another process of the run lost", "Another process of the run ended or does not answer"},
    {129, "SIGHUP", "Stopped by SIGHUP, with the state saved"},
    {130, "SIGINT", "Stopped by SIGINT (Ctrl-C), with the state saved"},
    {143, "SIGTERM", "Stopped by SIGTERM, with the state saved"}};

constexpr Example kExamples[] = {
    {"trainer fit houses.csv --target price",
     "Make a model and a report from a table, in the time that there is"},
    {"trainer init houses.csv --target price",
     "Write houses.yaml, a first configuration for a table"},
    {"trainer --config houses.yaml", "Train with it"},
    {"trainer --config houses.yaml --lr 2e-3 model.hidden_sizes=256,128",
     "Train with other values of some keys"},
    {"trainer --resume runs/latest", "Resume the newest run"},
    {"trainer --config configs/train.yaml --print-config",
     "Show every value and where it comes from"},
    {"trainer config schedule --config configs/train.yaml",
     "Preview the steps and learning rates of a run"},
    {"trainer find-batch --config configs/train.yaml",
     "Find the largest batch that fits and the fastest"},
    {"trainer predict new.csv --output predictions.csv",
     "Predict the rows of another table with the newest run"},
    {"trainer eval labeled.csv", "Evaluate the model on another table"},
    {"trainer inspect runs/latest", "Describe a model and how it was trained"},
    {"trainer runs list --sort val.loss", "List the runs, the best first"},
    {"trainer report runs/latest", "Write an HTML report about a run"},
    {"trainer cv --config configs/train.yaml --folds 5", "Cross-validate"},
    {"trainer ensemble --config houses.yaml --members 5",
     "Train several models and make one of them"},
    {"trainer verify runs/latest", "Verify the checkpoints of a run"},
    {"trainer export runs/latest --output model.onnx", "Export the model to ONNX"},
    {"trainer selftest resume", "Check that resumed runs end with the same bits"}};

std::string keys_and_exit_codes() {
  constexpr std::size_t kWidth = 78;
  std::string text =
      "\nEvery configuration key can be set as key=value; they are listed by\n"
      "`trainer config reference`.\n\nExit codes:";
  std::size_t width = std::string_view("Exit codes:").size();
  for (const ExitCode& code : kExitCodes) {
    const bool is_last = &code == std::end(kExitCodes) - 1;
    const std::string item = fmt::format("{} {}{}", code.code, code.name, is_last ? '.' : ',');
    const bool fits = width + 1 + item.size() <= kWidth;
    text += (fits ? " " : "\n  ") + item;
    width = (fits ? width + 1 : 2) + item.size();
  }
  return text;
}

}  // namespace

std::span<const ExitCode> exit_codes() { return kExitCodes; }

std::span<const Example> examples() { return kExamples; }

std::string help_footer() {
  std::string text = "Examples:\n";
  for (const Example& example : kExamples) text += fmt::format("  {}\n", example.command);
  return text + keys_and_exit_codes();
}

std::string train_help_footer() {
  constexpr const char* kTrainExamples = R"(Examples:
  trainer --config configs/train.yaml
  trainer --config configs/train.yaml --lr 2e-3 model.hidden_sizes=256,128
  trainer --resume runs/latest
  trainer --config configs/train.yaml --resume auto
)";
  return kTrainExamples + keys_and_exit_codes();
}

std::string version_text() {
  const BuildInfo& build = build_info();
  std::string text =
      fmt::format("trainer {} ({}{})\n", build.version, build.git_commit.substr(0, 12),
                  build.git_dirty ? ", modified" : "");
  for (const auto& [name, version] : run::library_versions()) {
    text += fmt::format("{} {}\n", name, version);
  }
  return text + fmt::format("BLAS {}\nbuilt with {}, {}\n", run::blas_info().name, build.compiler,
                            build.build_type);
}

}  // namespace trainer::cli
