// SPDX-License-Identifier: Apache-2.0
#include "trainer/apply/predict.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <numeric>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "trainer/apply/predictor.h"
#include "trainer/base/error.h"
#include "trainer/base/parallel/parallel.h"
#include "trainer/base/text/format.h"
#include "trainer/base/text/parse.h"
#include "trainer/base/time/stopwatch.h"

#include "apply/output.h"
#include "apply/prediction_text.h"
#include "apply/rows.h"

namespace trainer::apply {
namespace {

namespace fs = std::filesystem;

// As many rows as keep the features, activations and outputs of a batch within 4 MiB, so that they
// stay in a cache, unless rows are very wide.
int64_t default_batch_size(const Model& model) {
  constexpr int64_t kMaxRows = 4096;
  constexpr int64_t kMinRows = 128;
  constexpr int64_t kNumbers = int64_t{1} << 20;
  const std::vector<int64_t> widths = network::widths(model.members.front().network);
  const int64_t width = std::accumulate(widths.begin(), widths.end(), model.schema.num_features());
  return std::clamp(kNumbers / std::max<int64_t>(1, width), kMinRows, kMaxRows);
}

// Throws if an output would overwrite a file that is read, or the other output.
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

/// Writes the rows that could not be read to a CSV file.
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

  /// Writes the file even if the list is empty, so that an older list is not taken for this one.
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

/// A batch on its way through the pipeline: rows that are read, predicted and formatted as text.
struct Batch {
  Rows rows;
  std::vector<float> outputs;
  fmt::memory_buffer text;
  int64_t num_not_finite = 0;
};

/// Writes predictions. If nobody opens the files before, the first batch does, so that data without
/// rows, or with an error in the first ones, leaves no file.
class Writer {
 public:
  Writer(const PredictRequest& request, const PredictionText& lines, const RowSource& source)
      : request_(request), lines_(lines), source_(source) {}

  void open() {
    output_.emplace(request_.output, lines_.columns(source_.id_types()));
    errors_.emplace(request_.errors);
    fmt::memory_buffer header;
    lines_.add_header(header);
    put(header);
  }

  void write(const Batch& batch) {
    if (!output_) open();
    errors_->add(batch.rows.bad);
    put(batch.text);
    num_not_finite_ += batch.num_not_finite;
    compare(batch);
  }

  const ErrorList& errors() const { return *errors_; }

  void finish() {
    errors_->finish();
    output_->finish();
  }

  std::vector<std::string> differences(int64_t num_rows) const {
    constexpr int64_t kFewest = 20;
    std::vector<std::string> found = source_.differences();
    if (is_constant_ && num_rows >= kFewest) {
      found.push_back(
          fmt::format("the predictions for all {} rows are the same", with_thousands(num_rows)));
    }
    return found;
  }

  std::vector<std::string> warnings() const {
    std::vector<std::string> warnings = source_.warnings();
    if (errors_->count() > 0) warnings.push_back(skipped_text(*errors_, request_));
    if (num_not_finite_ > 0) {
      warnings.push_back(fmt::format(
          "{} {} non-finite outputs; the cells of {} predictions are empty",
          with_thousands(num_not_finite_), num_not_finite_ == 1 ? "row has" : "rows have",
          num_not_finite_ == 1 ? "its" : "their"));
    }
    return warnings;
  }

 private:
  void put(const fmt::memory_buffer& text) {
    output_->write({text.data(), text.size()});
    if (request_.follows) output_->finish();
  }

  // Finds out whether all rows so far have the outputs of the first one.
  void compare(const Batch& batch) {
    const auto num_rows = static_cast<std::size_t>(batch.rows.features.num_rows);
    if (!is_constant_ || num_rows == 0) return;
    const std::size_t width = batch.outputs.size() / num_rows;
    if (first_outputs_.empty()) {
      first_outputs_.assign(batch.outputs.begin(),
                            batch.outputs.begin() + static_cast<std::ptrdiff_t>(width));
    }
    for (std::size_t i = 0; i < batch.outputs.size() && is_constant_; ++i) {
      is_constant_ = batch.outputs[i] == first_outputs_[i % width];
    }
  }

  const PredictRequest& request_;
  const PredictionText& lines_;
  const RowSource& source_;
  std::optional<Output> output_;
  std::optional<ErrorList> errors_;
  int64_t num_not_finite_ = 0;
  bool is_constant_ = true;
  std::vector<float> first_outputs_;
};

}  // namespace

bool is_text_name(const fs::path& file) {
  constexpr std::array<std::string_view, 5> kEndings = {"", ".csv", ".tsv", ".tab", ".txt"};
  std::string ending = lower_case(file.extension().string());
  if (ending == ".gz") ending = lower_case(file.stem().extension().string());
  return std::find(kEndings.begin(), kEndings.end(), ending) != kEndings.end();
}

bool is_prediction_name(const fs::path& file) { return is_parquet(file) || is_text_name(file); }

PredictReport predict(const Model& model, const PredictRequest& request, const PredictNotes& notes,
                      const std::function<bool(const PredictProgress&)>& progress) {
  const Stopwatch stopwatch;
  require_other_files(model, request);
  const std::unique_ptr<RowSource> source = open_rows(model, request);
  for (const std::string& note : source->notes()) notes(note);
  const bool is_text = !is_parquet(request.output);
  const PredictionText lines(model, source->id_names(), is_text ? request.output_delimiter : ',',
                             is_text ? request.output_decimal : '.');
  const int64_t batch_size = request.follows          ? 1
                             : request.batch_size > 0 ? request.batch_size
                                                      : default_batch_size(model);
  const int64_t num_threads = request.follows ? 1 : request.num_threads;
  Writer writer(request, lines, *source);
  if (request.follows) writer.open();
  PredictReport report;
  std::vector<Batch> batches(pipeline_slots(num_threads));
  std::vector<std::optional<Predictor>> predictors(static_cast<std::size_t>(num_threads));
  const auto take = [&](std::size_t slot) { return source->take(batch_size, batches[slot].rows); };
  const auto work = [&](std::size_t slot, std::size_t thread) {
    Batch& batch = batches[slot];
    source->read(batch.rows);
    if (!predictors[thread]) predictors[thread].emplace(model, /*num_threads=*/1);
    predictors[thread]->predict(batch.rows.features, batch.outputs);
    batch.text.clear();
    batch.num_not_finite = lines.add_rows(batch.outputs, batch.rows.ids, batch.text);
    if (request.follows && batch.outputs.empty()) lines.add_empty_row(batch.text);
  };
  bool is_stopped = false;
  const auto give = [&](std::size_t slot) {
    writer.write(batches[slot]);
    report.num_rows += batches[slot].rows.features.num_rows;
    is_stopped = !progress({.num_rows = report.num_rows,
                            .num_bytes = source->bytes_read(),
                            .size_hint = source->size_hint()});
    return !is_stopped;
  };
  run_pipeline(num_threads, {.take = take, .work = work, .give = give});
  if (!is_stopped) {
    source->require_rows();
    report.num_skipped = writer.errors().count();
    if (report.num_rows == 0) {
      throw Error(ErrorKind::kData,
                  fmt::format("{}: no row could be read: {}", data::source_name(request.data),
                              writer.errors().first()));
    }
    writer.finish();
    report.warnings = writer.warnings();
    report.differences = writer.differences(report.num_rows);
  }
  report.time_seconds = stopwatch.seconds();
  return report;
}

}  // namespace trainer::apply
