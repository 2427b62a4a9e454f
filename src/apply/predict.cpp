// SPDX-License-Identifier: Apache-2.0
#include "trainer/apply/predict.h"

#include <algorithm>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "trainer/apply/predictor.h"
#include "trainer/core/error.h"
#include "trainer/core/format.h"
#include "trainer/core/stopwatch.h"

#include "apply/output.h"
#include "apply/prediction_text.h"
#include "apply/rows.h"

namespace trainer::apply {
namespace {

namespace fs = std::filesystem;

// The inputs and outputs of a batch lie in a cache, as far as rows are not very wide.
int64_t default_batch_size(const Model& model) {
  constexpr int64_t kMaxRows = 4096;
  constexpr int64_t kMinRows = 64;
  constexpr int64_t kNumbers = int64_t{1} << 20;
  const int64_t width = model.schema.num_features() + model.num_outputs();
  return std::clamp(kNumbers / std::max<int64_t>(1, width), kMinRows, kMaxRows);
}

// An output that took the place of what is read would destroy it.
void require_other_files(const Model& model, const PredictRequest& request) {
  const auto require_other = [](const char* flag, const fs::path& output, const char* what,
                                const fs::path& other) {
    std::error_code ignored;
    if (output.empty() || output == "-" || other.empty() || other == "-") return;
    const bool is_there = fs::is_regular_file(output, ignored);
    if (is_there
            ? !fs::equivalent(output, other, ignored)
            : fs::absolute(output).lexically_normal() != fs::absolute(other).lexically_normal()) {
      return;
    }
    throw Error(ErrorKind::kUsage,
                fmt::format("{}: {} is {}; choose another file", flag, output.string(), what));
  };
  require_other("--output", request.output, "the file of --data", request.data.path);
  require_other("--output", request.output, "the model", model.file);
  require_other("--errors", request.errors, "the file of --data", request.data.path);
  require_other("--errors", request.errors, "the model", model.file);
  require_other("--errors", request.errors, "the file of --output", request.output);
}

/// The rows that could not be read, as a CSV file.
class ErrorList {
 public:
  explicit ErrorList(const fs::path& path) {
    if (path.empty()) return;
    output_.emplace(path);
    output_->write("line,reason\n");
  }

  void add(const std::vector<data::BadRow>& rows) {
    if (first_.empty() && !rows.empty()) {
      first_ = fmt::format("line {}: {}", rows.front().line, rows.front().reason);
    }
    count_ += static_cast<int64_t>(rows.size());
    if (!output_) return;
    for (const data::BadRow& row : rows) {
      std::string reason = row.reason;
      for (std::size_t at = 0; (at = reason.find('"', at)) != std::string::npos; at += 2) {
        reason.insert(at, 1, '"');
      }
      output_->write(fmt::format("{},\"{}\"\n", row.line, reason));
    }
  }

  /// A run without such rows has a list too, so that no older one is taken for it.
  void finish() {
    if (output_) output_->finish();
  }

  int64_t count() const { return count_; }
  const std::string& first() const { return first_; }

 private:
  std::optional<Output> output_;
  int64_t count_ = 0;
  std::string first_;
};

std::string skipped_text(const ErrorList& errors, const PredictRequest& request) {
  return fmt::format(
      "skipped {} that could not be read, the first is {}{}", counted(errors.count(), "row"),
      errors.first(),
      request.errors.empty() ? "" : fmt::format(" (all listed in {})", request.errors.string()));
}

std::string_view as_view(const fmt::memory_buffer& buffer) {
  return {buffer.data(), buffer.size()};
}

}  // namespace

PredictReport predict(const Model& model, const PredictRequest& request, const PredictNotes& notes,
                      const std::function<bool(const PredictProgress&)>& progress) {
  const Stopwatch stopwatch;
  require_other_files(model, request);
  const std::unique_ptr<RowSource> source = open_rows(model, request);
  for (const std::string& note : source->notes()) notes(note);
  const bool is_text = !is_parquet(request.output);
  PredictionText lines(model, source->id_names(), is_text ? request.output_delimiter : ',',
                       is_text ? request.output_decimal : '.');
  const int64_t batch_size =
      request.batch_size > 0 ? request.batch_size : default_batch_size(model);
  PredictReport report;
  Rows rows;
  // Before anything is written: a file without rows, or with an error in the first ones.
  bool has_rows = source->next(batch_size, rows);
  Output output(request.output, lines.columns(source->id_types()));
  ErrorList errors(request.errors);
  Predictor predictor(model, request.num_threads);
  fmt::memory_buffer text;
  lines.add_header(text);
  std::vector<float> outputs;
  for (; has_rows; has_rows = source->next(batch_size, rows)) {
    errors.add(rows.bad);
    predictor.predict(rows.features, outputs);
    lines.add_rows(outputs, rows.ids, text);
    output.write(as_view(text));
    text.clear();
    report.num_rows += rows.features.num_rows;
    const PredictProgress done{.num_rows = report.num_rows,
                               .num_bytes = source->bytes_read(),
                               .size_hint = source->size_hint()};
    if (progress(done)) continue;
    report.time_seconds = stopwatch.seconds();
    return report;
  }
  report.num_skipped = errors.count();
  if (report.num_rows == 0) {
    throw Error(ErrorKind::kData, fmt::format("{}: no row could be read: {}",
                                              data::source_name(request.data), errors.first()));
  }
  errors.finish();
  output.finish();
  report.warnings = source->warnings();
  if (errors.count() > 0) report.warnings.push_back(skipped_text(errors, request));
  if (const int64_t count = lines.num_not_finite(); count > 0) {
    report.warnings.push_back(fmt::format(
        "{} {} non-finite outputs; the cells of {} predictions are empty", with_thousands(count),
        count == 1 ? "row has" : "rows have", count == 1 ? "its" : "their"));
  }
  report.time_seconds = stopwatch.seconds();
  return report;
}

}  // namespace trainer::apply
