// SPDX-License-Identifier: Apache-2.0
#include "cli/export_command.h"

#include <filesystem>
#include <string>

#include <fmt/format.h>

#include "trainer/core/error.h"
#include "trainer/core/labeled_lines.h"
#include "trainer/core/text.h"

#include "cli/engine_library.h"
#include "cli/model_data.h"
#include "cli/onnx_library.h"

namespace trainer::cli {
namespace fs = std::filesystem;
namespace {

void refuse_softmax(const apply::Model& model, const apply::ExportOptions& options) {
  if (options.outputs != apply::ExportOutputs::kProbabilities ||
      model.schema.task == config::Task::kClassification) {
    return;
  }
  throw Error(ErrorKind::kUsage,
              fmt::format("--softmax: {} is a regression, which has no classes; leave it out",
                          model.file.string()));
}

apply::ExportReport write(const apply::Model& model, const ExportArguments& arguments) {
  switch (arguments.format) {
    case ExportFormat::kOnnx:
      return onnx_library().write(model, arguments.options, arguments.output);
    case ExportFormat::kSafetensors:
      return apply::export_safetensors(model, arguments.output);
    case ExportFormat::kTorchscript:
      return engine_library().export_torchscript(model, arguments.options, arguments.output);
  }
  return {};
}

void add_ports(const char* label, const std::vector<apply::Port>& ports, LabeledLines& lines) {
  constexpr std::size_t kMax = 12;
  for (std::size_t i = 0; i < ports.size(); ++i) {
    if (i == kMax && ports.size() > kMax + 1) {
      lines.add("", fmt::format("and {} more", ports.size() - kMax));
      return;
    }
    lines.add(i == 0 ? label : "", fmt::format("{}: {}", ports[i].name, ports[i].type));
  }
}

std::string report_text(const apply::Model& model, const apply::ExportReport& report,
                        const fs::path& output) {
  LabeledLines lines;
  lines.add("model", fmt::format("{}, epoch {}{}", model.file.string(), model.position.epoch,
                                 model.is_averaged ? ", averaged weights" : ""));
  add_ports("input", report.inputs, lines);
  add_ports("output", report.outputs, lines);
  lines.add("written", fmt::format("{} ({}, {})", output.string(), report.format,
                                   human_bytes(fs::file_size(output))));
  lines.add("checked", report.checked);
  return lines.text();
}

}  // namespace

int export_command(const Arguments& arguments) {
  const ExportArguments& wanted = arguments.exported;
  if (wanted.format == ExportFormat::kOnnx) onnx_library();  // or what to install, at once
  const apply::Model model = load_model(arguments);
  refuse_checkpoints(wanted.output, model.file);
  refuse_softmax(model, wanted.options);
  const apply::ExportReport report = write(model, wanted);
  fmt::print("{}", report_text(model, report, wanted.output));
  return 0;
}

}  // namespace trainer::cli
