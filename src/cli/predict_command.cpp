// SPDX-License-Identifier: Apache-2.0
#include "cli/predict_command.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>

#include <fmt/format.h>

#include "trainer/apply/model.h"
#include "trainer/apply/predict.h"
#include "trainer/core/error.h"
#include "trainer/core/log.h"
#include "trainer/core/signals.h"
#include "trainer/core/text.h"
#include "trainer/data/csv_format.h"

#include "cli/model_data.h"
#include "cli/progress_line.h"

namespace trainer::cli {
namespace {

// That of the data, unless the name of the output says otherwise: no tabs but in .tsv files.
char output_delimiter(const std::string& output, const data::CsvFormat& of_data) {
  if (output == "-") return of_data.delimiter;
  const char by_name = data::csv_delimiter("auto", output, of_data.decimal);
  return by_name == '\t' || of_data.delimiter == '\t' ? by_name : of_data.delimiter;
}

int64_t rate(int64_t num_rows, double seconds) {
  return std::llround(static_cast<double>(num_rows) / std::max(seconds, 1e-9));
}

// `1,234,567 rows  45 %  612,000 rows/s  2.4 s left`, less than `width` columns.
std::string progress_text(const apply::PredictProgress& progress, double seconds, int width) {
  std::string done = counted(progress.num_rows, "row");
  const double share = progress.likely_bytes == 0 ? 0
                                                  : static_cast<double>(progress.num_bytes) /
                                                        static_cast<double>(progress.likely_bytes);
  if (share > 0) done += fmt::format("  {:.0f} %", 100 * std::min(share, 1.0));
  const std::string speed =
      fmt::format("  {} rows/s", with_thousands(rate(progress.num_rows, seconds)));
  const std::string time = share > 0 && share < 1
                               ? fmt::format("  {} left", human_duration(seconds / share - seconds))
                               : "";
  return first_that_fits({done + speed + time, done + time, done}, width);
}

int stopped(const Arguments& arguments, int signal) {
  log::clear_status();
  log::warning(arguments.output == "-" ? "stopped; not all rows were predicted"
                                       : "stopped; no output was written");
  return 128 + signal;
}

}  // namespace

int predict_command(const Arguments& arguments) {
  if (arguments.verbosity == Verbosity::kQuiet) log::set_console_level(log::Level::kWarning);
  const apply::Model model = load_model(arguments);
  refuse_checkpoints(arguments.output, model.file);
  const config::Config config = config_for(arguments, model);
  apply::PredictRequest request;
  request.data = arguments.data;
  request.output = arguments.output;
  request.format = format_of(config.data, model.schema, arguments.data);
  request.output_delimiter = output_delimiter(arguments.output, request.format);
  request.output_decimal = request.format.decimal;
  request.num_threads = threads_of(config);
  request.kept = arguments.kept;
  request.on_error = arguments.skips_errors ? apply::OnError::kSkip : apply::OnError::kStop;
  request.errors = arguments.errors;
  watch_signals(Waiting::kEnds);
  ProgressLine line;
  apply::PredictReport report;
  try {
    report = apply::predict(
        model, request, [](const std::string& note) { log::info(note); },
        [&](const apply::PredictProgress& progress) {
          line.update(
              [&](double seconds, int width) { return progress_text(progress, seconds, width); });
          return stop_request() == 0;
        });
  } catch (const Error&) {
    if (stop_request() == 0) throw;  // else it was a read or a write that the signal ended
  }
  if (const int signal = stop_request(); signal != 0) return stopped(arguments, signal);
  log::clear_status();
  for (const std::string& warning : report.warnings) log::warning(warning);
  log::info(fmt::format("predicted {} in {} ({} rows/s){}", counted(report.num_rows, "row"),
                        human_duration(report.time_seconds),
                        with_thousands(rate(report.num_rows, report.time_seconds)),
                        arguments.output == "-" ? "" : ": " + arguments.output));
  return 0;
}

}  // namespace trainer::cli
