// SPDX-License-Identifier: Apache-2.0
// `trainer export RUN_OR_CHECKPOINT --output FILE`: writes a trained model in another format.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "trainer/apply/evaluate.h"
#include "trainer/apply/export.h"
#include "trainer/apply/export_samples.h"
#include "trainer/apply/export_triton.h"
#include "trainer/apply/export_weights.h"
#include "trainer/base/error.h"
#include "trainer/base/io/atomic_file.h"
#include "trainer/base/io/made_folders.h"
#include "trainer/base/parallel/cpus.h"
#include "trainer/base/text/document.h"
#include "trainer/base/text/format.h"
#include "trainer/base/text/parse.h"
#include "trainer/metrics/report.h"
#include "trainer/metrics/score.h"
#include "trainer/report/html/model_page.h"

#include "cli/commands.h"
#include "cli/libraries.h"
#include "cli/model_options.h"
#include "cli/print_document.h"

namespace trainer::cli {
namespace fs = std::filesystem;
namespace {

enum class Format { kC, kHtml, kOnnx, kSafetensors, kTorchscript, kTriton };

struct FormatRow {
  std::string_view name;
  std::string_view extension;  // empty: of a folder
  Format format;
};

constexpr std::array<FormatRow, 6> kFormats = {
    {{"c", ".c", Format::kC},
     {"html", ".html", Format::kHtml},
     {"onnx", ".onnx", Format::kOnnx},
     {"safetensors", ".safetensors", Format::kSafetensors},
     {"torchscript", ".pt", Format::kTorchscript},
     {"triton", "", Format::kTriton}}};

void refuse_regression(const apply::Model& model) {
  if (model.schema.task == config::Task::kClassification) return;
  throw Error(ErrorKind::kUsage,
              fmt::format("--softmax: {} is a regression model without classes; remove this option",
                          model.file.string()));
}

void add_ports(const char* label, const std::vector<apply::TensorInfo>& ports, Document& document) {
  constexpr std::size_t kMax = 12;
  for (std::size_t i = 0; i < ports.size(); ++i) {
    if (i == kMax && ports.size() > kMax + 1) {
      document.line("", fmt::format("and {} more", ports.size() - kMax));
      return;
    }
    document.line(i == 0 ? label : "", fmt::format("{}: {}", ports[i].name, ports[i].type));
  }
}

struct WeightTypeRow {
  std::string_view name;
  apply::WeightType type;
};

constexpr std::array<WeightTypeRow, 3> kWeightTypes = {{{"float32", apply::WeightType::kFloat32},
                                                        {"float16", apply::WeightType::kFloat16},
                                                        {"int8", apply::WeightType::kInt8}}};

// The row of a table that has `text` as the given member, or nullptr.
template <class Row, std::size_t Size>
const Row* find_row(const std::array<Row, Size>& rows, std::string_view Row::*member,
                    const std::string& text) {
  const auto* const found =
      std::find_if(rows.begin(), rows.end(), [&](const Row& row) { return row.*member == text; });
  return found == rows.end() ? nullptr : found;
}

template <class Row, std::size_t Size>
std::vector<std::string> names_of(const std::array<Row, Size>& rows) {
  std::vector<std::string> names;
  names.reserve(rows.size());
  for (const Row& row : rows) names.emplace_back(row.name);
  return names;
}

// What the smaller weights change: the first scores of the run's own rows, as eval has them, beside
// those with float32.
void add_scores(const apply::Model& model, const apply::Model& stored, Document& document) {
  const apply::EvaluationResult before = apply::evaluate_own_split(model, usable_cpus());
  const apply::EvaluationResult after = apply::evaluate_own_split(stored, usable_cpus());
  const std::vector<metrics::Score> exact = metrics::all_scores(before.report);
  constexpr std::size_t kNumScores = 3;
  std::vector<std::string> texts;
  for (const metrics::Score& score : metrics::all_scores(after.report)) {
    if (texts.size() == kNumScores) break;
    texts.push_back(fmt::format("{} {:.6g} ({:.6g})", score.name, score.value,
                                metrics::find_score(exact, score.name).value_or(score.value)));
  }
  document.line("scores", fmt::format("of {}, in brackets with float32: {}",
                                      counted(after.report.num_rows, "row") + " of the " +
                                          after.split + " split",
                                      joined(texts, ", ")));
}

// The same for random rows, which need no data.
void add_difference(const apply::Model& model, const apply::Model& stored, Document& document) {
  constexpr int64_t kNumRows = 256;
  const data::Matrix features = apply::sample_features(model, kNumRows);
  const auto outputs = [&](const apply::Model& of) {
    return apply::expected_outputs(of, features, apply::ExportOutputs::kProbabilities);
  };
  const std::vector<double> exact = outputs(model);
  const std::vector<double> got = outputs(stored);
  double largest = 0;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    largest = std::max(largest, std::abs(got[i] - exact[i]));
  }
  const bool has_classes = model.schema.task == config::Task::kClassification;
  document.line("differs",
                fmt::format("by at most {:.2g} in the {} of {} random rows from float32", largest,
                            has_classes ? "probabilities" : "predictions", kNumRows));
}

Document report_document(const apply::Model& model, const apply::ExportReport& report,
                         const fs::path& output, const fs::path& file) {
  Document document;
  document.line("model",
                fmt::format("{}, {}{}", model.file.string(), apply::epoch_text(model),
                            model.members.front().is_averaged ? ", averaged weights" : ""));
  add_ports("input", report.inputs, document);
  add_ports("output", report.outputs, document);
  document.line("written", fmt::format("{} ({}, {})", output.string(), report.format,
                                       human_bytes(fs::file_size(file))));
  for (const std::string& line : report.checked) {
    document.line(line == report.checked.front() ? "checked" : "", line);
  }
  return document;
}

class ExportCommand : public Command {
 public:
  std::vector<Option> options() override {
    return {
        model_option(model_),
        {"-o,--output", &output_, "FILE", "File to write; for triton the folder of the model"},
        {"--format", &format_name_, "FORMAT",
         "c, html (a page with a form), onnx, safetensors (weights only), torchscript or triton "
         "(default: by the extension of FILE: .c, .html, .onnx, .safetensors, .pt)",
         names_of(kFormats)},
        {"--softmax", &softmax_, "", "Output probabilities instead of logits"},
        interval_option(interval_),
        {"--preprocessing", &preprocessing_, "",
         "Use the raw columns of the table as inputs (onnx, triton)"},
        {"--weights", &weights_name_, "VALUE",
         "How matrices are stored: float32 (default), float16 or int8 (onnx, triton)",
         names_of(kWeightTypes)},
        {"--batch", &batch_, "N", "Fix the number of rows (onnx, triton; default: any)"}};
  }

  void check(const CommonOptions& common, Problems& problems) override {
    check_model("export", model_, problems);
    if (output_.empty()) {
      problems.emplace_back(
          "export: expected --output FILE (.c, .html, .onnx, .safetensors or .pt), got nothing");
    }
    const std::size_t num_problems = problems.size();
    choose_format(problems);
    if (problems.size() == num_problems) check_format_options(problems);
    check_interval(interval_, problems);
    parse_count("--batch", batch_, num_rows_, problems);
    check_overrides("export", common, {}, problems);
  }

  int run(const CommonOptions& /*common*/) override {
    if (is_onnx()) onnx_library();  // first, to fail early if it is missing
    apply::Model model = load_model(model_);
    check_output(output_, model.file);
    if (softmax_) refuse_regression(model);
    if (!interval_.text.empty()) require_probabilities(model);
    apply_interval(interval_, model, usable_cpus());
    const apply::ExportReport report = write(model);
    Document document = report_document(model, report, output_, file());
    if (weights_ != apply::WeightType::kFloat32) {
      const apply::Model stored = apply::with_stored_weights(model, weights_);
      add_difference(model, stored, document);
      try {
        add_scores(model, stored, document);
      } catch (const Error& error) {
        document.line("scores", fmt::format("unknown: {}", error.what()));
      }
    }
    print_document(document, false);
    return 0;
  }

 private:
  bool is_onnx() const { return format_ == Format::kOnnx || format_ == Format::kTriton; }

  // The file with the model, which for Triton is inside the folder that the user named.
  fs::path file() const {
    return format_ == Format::kTriton ? fs::path(output_) / "1" / "model.onnx" : fs::path(output_);
  }

  void require_probabilities(const apply::Model& model) const {
    if (softmax_ || format_ == Format::kC || format_ == Format::kHtml ||
        format_ == Format::kSafetensors || model.schema.task == config::Task::kRegression) {
      return;
    }
    throw Error(ErrorKind::kUsage,
                "--interval: a set of classes is chosen by their probabilities, got outputs that "
                "are logits; add --softmax");
  }

  void choose_format(Problems& problems) {
    if (!format_name_.empty()) {
      if (const FormatRow* row = find_row(kFormats, &FormatRow::name, format_name_)) {
        format_ = row->format;
        return;
      }
      problems.push_back(fmt::format(
          "--format: expected c, html, onnx, safetensors, torchscript or triton, got {}",
          in_quotes(format_name_)));
    } else if (!output_.empty()) {
      const std::string extension = lower_case(fs::path(output_).extension().string());
      const FormatRow* row = find_row(kFormats, &FormatRow::extension, extension);
      if (row != nullptr && !extension.empty()) {
        format_ = row->format;
        return;
      }
      problems.push_back(
          fmt::format("--output: expected a name ending in .c, .html, .onnx, .safetensors or .pt, "
                      "got {}; or set --format",
                      in_quotes(output_)));
    }
  }

  void check_format_options(Problems& problems) {
    if (softmax_ && format_ == Format::kSafetensors) {
      problems.emplace_back(
          "--softmax: a safetensors file contains weights only; use --format onnx or torchscript");
    }
    const bool is_complete = format_ == Format::kC || format_ == Format::kHtml;
    const char* const what = format_ == Format::kC ? "a C file" : "an HTML page";
    if (softmax_ && is_complete) {
      problems.push_back(
          fmt::format("--softmax: {} always returns probabilities; remove this option", what));
    }
    if (preprocessing_ && is_complete) {
      problems.push_back(fmt::format(
          "--preprocessing: {} always takes the raw columns; remove this option", what));
    } else if (preprocessing_ && !is_onnx()) {
      problems.emplace_back("--preprocessing: only supported for ONNX; use --format onnx");
    }
    const WeightTypeRow* const row = find_row(kWeightTypes, &WeightTypeRow::name, weights_name_);
    if (row != nullptr) weights_ = row->type;
    if (row == nullptr && !weights_name_.empty()) {
      problems.push_back(fmt::format("--weights: expected float32, float16 or int8, got {}",
                                     in_quotes(weights_name_)));
    } else if (!weights_name_.empty() && !is_onnx()) {
      problems.emplace_back("--weights: only supported for ONNX; use --format onnx");
    }
    if (!batch_.empty() && !is_onnx()) {
      problems.emplace_back("--batch: only supported for ONNX; use --format onnx");
    }
  }

  apply::ExportReport write(const apply::Model& model) const {
    apply::ExportOptions options;
    if (softmax_) options.outputs = apply::ExportOutputs::kProbabilities;
    if (preprocessing_) options.inputs = apply::ExportInputs::kColumns;
    if (!batch_.empty()) options.batch = num_rows_;
    options.weights = weights_;
    switch (format_) {
      case Format::kC:
        return apply::export_c(model, output_);
      case Format::kHtml:
        return report::export_html(model, output_);
      case Format::kOnnx:
        return onnx_library().write(model, options, output_);
      case Format::kSafetensors:
        return apply::export_safetensors(model, output_);
      case Format::kTorchscript:
        return engine_library().export_torchscript(model, options, output_);
      case Format::kTriton:
        return write_triton(model, options);
    }
    return {};
  }

  // A folder of a model repository. The file with the model is complete before its description is.
  apply::ExportReport write_triton(const apply::Model& model,
                                   const apply::ExportOptions& options) const {
    const fs::path folder = file().parent_path().parent_path();
    MadeFolders made;
    std::error_code problem;
    made.make_with_parents(file().parent_path(), problem);
    if (problem) {
      throw Error(ErrorKind::kFileSystem, fmt::format("cannot create the folder {}: {}",
                                                      folder.string(), problem.message()));
    }
    apply::ExportReport report = onnx_library().write(model, options, file());
    const fs::path named = fs::absolute(folder).lexically_normal();
    const fs::path name = named.has_filename() ? named.filename() : named.parent_path().filename();
    write_file_atomically(folder / "config.pbtxt", apply::triton_config(name.string(), report));
    report.format = "NVIDIA Triton, " + report.format;
    return report;
  }

  std::string model_;
  std::string output_;
  std::string format_name_;
  std::string batch_;
  std::string weights_name_;
  apply::WeightType weights_ = apply::WeightType::kFloat32;
  int64_t num_rows_ = 1;  // rows of a batch; used if --batch was given
  Format format_ = Format::kOnnx;
  IntervalOption interval_;
  bool softmax_ = false;
  bool preprocessing_ = false;
};

}  // namespace

std::unique_ptr<Command> make_export_command() { return std::make_unique<ExportCommand>(); }

}  // namespace trainer::cli
