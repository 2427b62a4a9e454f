// SPDX-License-Identifier: Apache-2.0
#include "cli/export_arguments.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "trainer/core/text.h"

namespace trainer::cli {
namespace {

struct FormatRow {
  std::string_view name;
  std::string_view extension;
  ExportFormat format;
};

constexpr std::array<FormatRow, 3> kFormats = {
    {{"onnx", ".onnx", ExportFormat::kOnnx},
     {"safetensors", ".safetensors", ExportFormat::kSafetensors},
     {"torchscript", ".pt", ExportFormat::kTorchscript}}};

const FormatRow* find_format(std::string_view FormatRow::*member, const std::string& text) {
  const auto* const found = std::find_if(kFormats.begin(), kFormats.end(),
                                         [&](const auto& row) { return row.*member == text; });
  return found == kFormats.end() ? nullptr : found;
}

ExportFormat format_of(const ExportWords& words, std::vector<std::string>& problems) {
  if (!words.format.empty()) {
    if (const FormatRow* row = find_format(&FormatRow::name, words.format)) return row->format;
    problems.push_back(fmt::format("--format: expected onnx, safetensors or torchscript, got {}",
                                   in_quotes(words.format)));
  } else if (!words.output.empty()) {
    const std::string extension =
        lower_case(std::filesystem::path(words.output).extension().string());
    if (const FormatRow* row = find_format(&FormatRow::extension, extension)) return row->format;
    problems.push_back(
        fmt::format("--output: expected a name that ends in .onnx, .safetensors or "
                    ".pt, got {}; or say which format with --format",
                    in_quotes(words.output)));
  }
  return ExportFormat::kOnnx;
}

}  // namespace

ExportArguments understand_export(const ExportWords& words, std::vector<std::string>& problems) {
  ExportArguments arguments;
  if (words.output.empty()) {
    problems.emplace_back(
        "export: expected --output FILE (.onnx, .safetensors or .pt), got nothing");
  }
  const std::size_t num_problems = problems.size();
  arguments.format = format_of(words, problems);
  arguments.output = words.output;
  if (words.softmax) arguments.options.outputs = apply::ExportOutputs::kProbabilities;
  if (words.preprocessing) arguments.options.inputs = apply::ExportInputs::kColumns;
  if (problems.size() > num_problems) return arguments;
  if (words.softmax && arguments.format == ExportFormat::kSafetensors) {
    problems.emplace_back(
        "--softmax: a safetensors file holds weights only; take --format onnx or torchscript");
  }
  if (words.preprocessing && arguments.format != ExportFormat::kOnnx) {
    problems.emplace_back(
        "--preprocessing: only ONNX files take the columns of a table; take "
        "--format onnx");
  }
  return arguments;
}

}  // namespace trainer::cli
