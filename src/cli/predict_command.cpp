// SPDX-License-Identifier: Apache-2.0
#include "cli/predict_command.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <vector>

#include <fmt/format.h>

#include "trainer/apply/model.h"
#include "trainer/core/error.h"
#include "trainer/core/log.h"
#include "trainer/core/signals.h"
#include "trainer/core/stopwatch.h"
#include "trainer/core/terminal.h"
#include "trainer/core/text.h"
#include "trainer/data/csv_format.h"

#include "cli/model_data.h"
#include "cli/progress_bar.h"

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

/// Shows progress on standard error: a line drawn again at most ten times a second on a terminal, a
/// plain line every 30 seconds elsewhere.
class Progress {
 public:
  bool show(const apply::PredictProgress& progress) {
    const double now = stopwatch_.seconds();
    if (now >= next_) {
      next_ = now + interval();
      const int width = terminal_.redraws ? standard_error_width() : 200;
      const std::string text = predict_progress_text(progress, now, width);
      terminal_.redraws ? log::show_status(text) : log::info(text);
    }
    return stop_request() == 0;
  }

 private:
  double interval() const { return terminal_.redraws ? 0.1 : 30; }

  Terminal terminal_ = standard_error_terminal();
  Stopwatch stopwatch_;
  double next_ = interval();
};

int stopped(const Arguments& arguments, int signal) {
  log::clear_status();
  log::warning(arguments.output == "-" ? "stopped; not all rows were predicted"
                                       : "stopped; no output was written");
  return 128 + signal;
}

}  // namespace

std::string predict_progress_text(const apply::PredictProgress& progress, double seconds,
                                  int width) {
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
  Progress progress;
  apply::PredictReport report;
  try {
    report = apply::predict(
        model, request, [](const std::string& note) { log::info(note); },
        [&](const apply::PredictProgress& at) { return progress.show(at); });
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
