// SPDX-License-Identifier: Apache-2.0
#include "trainer/apply/predict.h"

#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "trainer/apply/predictor.h"
#include "trainer/core/error.h"
#include "trainer/core/stopwatch.h"
#include "trainer/core/text.h"

#include "apply/output.h"
#include "apply/prediction_text.h"
#include "apply/rows.h"

namespace trainer::apply {
namespace {

namespace fs = std::filesystem;

// What is read, computed and written at once lies in a cache, as far as rows are not very wide.
int64_t rows_at_once(const Model& model) {
  constexpr int64_t kMost = 4096;
  constexpr int64_t kFewest = 64;
  constexpr int64_t kNumbers = int64_t{1} << 20;
  const int64_t width = model.schema.num_features() + model.options.num_outputs;
  return std::clamp(kNumbers / std::max<int64_t>(1, width), kFewest, kMost);
}

void require_other_file(const PredictRequest& request) {
  std::error_code ignored;
  if (request.data == "-" || request.output == "-" || !fs::is_regular_file(request.output) ||
      !fs::equivalent(request.data, request.output, ignored)) {
    return;
  }
  throw Error(ErrorKind::kUsage, fmt::format("--output: {} is the file of --data; choose another",
                                             request.output.string()));
}

std::string_view view_of(const fmt::memory_buffer& buffer) {
  return {buffer.data(), buffer.size()};
}

}  // namespace

PredictReport predict(const Model& model, const PredictRequest& request, const PredictNotes& notes,
                      const std::function<bool(const PredictProgress&)>& progress) {
  const Stopwatch stopwatch;
  require_other_file(request);
  const std::unique_ptr<RowSource> source = open_rows(model, request);
  for (const std::string& note : source->notes()) notes(note);
  PredictionText lines(model, source->id_names(), request.output_delimiter, request.output_decimal);
  const int64_t most = request.rows_at_once > 0 ? request.rows_at_once : rows_at_once(model);
  PredictReport report;
  Rows rows;
  // Before anything is written: a file without rows, or with an error in the first ones.
  bool has_rows = source->next(most, rows);
  Output output(request.output);
  Predictor predictor(model, request.num_threads);
  fmt::memory_buffer text;
  lines.add_header(text);
  std::vector<float> outputs;
  for (; has_rows; has_rows = source->next(most, rows)) {
    predictor.predict(rows.features, outputs);
    lines.add_rows(outputs, rows.ids, text);
    output.write(view_of(text));
    text.clear();
    report.num_rows += rows.features.num_rows;
    if (progress({report.num_rows, source->bytes_read(), source->likely_bytes()})) continue;
    report.time_seconds = stopwatch.seconds();
    return report;
  }
  output.finish();
  report.warnings = source->warnings();
  if (const int64_t count = lines.num_not_finite(); count > 0) {
    report.warnings.push_back(fmt::format(
        "{} {} outputs that are not finite; the cells of {} predictions are empty",
        with_thousands(count), count == 1 ? "row has" : "rows have", count == 1 ? "its" : "their"));
  }
  report.time_seconds = stopwatch.seconds();
  return report;
}

}  // namespace trainer::apply
