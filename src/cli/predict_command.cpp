// SPDX-License-Identifier: Apache-2.0
// `trainer predict RUN_OR_CHECKPOINT --data FILE`: applies a model to each row of a table.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "trainer/apply/model.h"
#include "trainer/apply/predict.h"
#include "trainer/base/error.h"
#include "trainer/base/io/log.h"
#include "trainer/base/io/terminal.h"
#include "trainer/base/signals.h"
#include "trainer/base/text/format.h"
#include "trainer/table/source/csv_format.h"

#include "cli/commands.h"
#include "cli/common_options.h"
#include "cli/model_options.h"
#include "cli/progress_bar.h"

namespace trainer::cli {
namespace {

// Returns the delimiter of the data, unless the extension of the output contradicts it: only .tsv
// and .tab files have tabs.
char output_delimiter(const std::string& output, const data::CsvFormat& of_data) {
  if (output == "-") return of_data.delimiter;
  const char by_name = data::csv_delimiter("auto", output, of_data.decimal);
  return by_name == '\t' || of_data.delimiter == '\t' ? by_name : of_data.delimiter;
}

int64_t rate(int64_t num_rows, double seconds) {
  return std::llround(static_cast<double>(num_rows) / std::max(seconds, 1e-9));
}

// Returns a text such as `1,234,567 rows  45 %  612,000 rows/s  2.4 s left`, shorter than `width`.
std::string progress_text(const apply::PredictProgress& progress, double seconds, int width) {
  std::string done = counted(progress.num_rows, "row");
  const double fraction = progress.size_hint == 0 ? 0
                                                  : static_cast<double>(progress.num_bytes) /
                                                        static_cast<double>(progress.size_hint);
  if (fraction > 0) done += fmt::format("  {:.0f} %", 100 * std::min(fraction, 1.0));
  const std::string speed =
      fmt::format("  {} rows/s", with_thousands(rate(progress.num_rows, seconds)));
  const std::string time =
      fraction > 0 && fraction < 1
          ? fmt::format("  {} left", human_duration(seconds / fraction - seconds))
          : "";
  return first_that_fits({done + speed + time, done + time, done}, width);
}

class PredictCommand : public Command {
 public:
  std::vector<Option> options() override {
    return {
        model_option(model_),
        table_option(table_),
        {"--data", &data_, "FILE",
         "Table with the columns of the training data; - reads standard input"},
        query_option(query_),
        delimiter_option(format_, "as in the run"),
        decimal_option(format_, "as in the run"),
        {"-o,--output", &output_, "FILE", "File for the predictions (default: -, standard output)"},
        threshold_option(threshold_),
        interval_option(interval_),
        {"--keep", &kept_columns_, "COLUMN",
         "Column to copy to the output: a name, or a pattern with * and ?"},
        {"--on-error",
         &on_error_,
         "VALUE",
         "What to do with a row that cannot be read: stop, or skip it and list it",
         {"stop", "skip"}},
        {"--errors", &errors_, "FILE", "File that lists skipped rows (default: OUTPUT.errors.csv)"},
        {"--follow", &follow_, "",
         "Answer each line of standard input with a line before reading the next one"},
        {"--check", &check_, "",
         "Fail, with exit code 10, if the table is not like the training data"}};
  }

  void check(const CommonOptions& common, Problems& problems) override {
    if (data_.empty() && query_.empty()) move_table(model_, table_);
    take_table(table_, data_, problems);
    check_model("predict", model_, problems);
    if (follow_) check_follow(problems);
    if (data_.empty() && query_.empty()) {
      problems.emplace_back("predict: expected --data FILE, got nothing");
    }
    check_data(data_, query_, problems);
    if (output_.empty()) output_ = "-";
    check_errors(problems);
    check_threshold(threshold_, problems);
    check_interval(interval_, problems);
    check_overrides("predict", common, {"threads", "precision"}, problems);
  }

  int run(const CommonOptions& common) override {
    apply_quiet(common);
    apply::Model model = load_model(model_);
    check_output(output_, model.file);
    require_right_endings();
    const config::Config config = config_for(model, common, format_);
    apply_precision(config, model);
    const apply::PredictRequest request = make_request(model, config);
    const std::string threshold = apply_threshold(threshold_, model, request.num_threads);
    if (!threshold.empty()) log::info("threshold " + threshold);
    apply_interval(interval_, model, request.num_threads);
    watch_signals(OnSignal::kInterrupt);
    ProgressLine line;
    // Predictions that appear on the same terminal already show the progress.
    const bool has_line = !follow_ && (output_ != "-" || !output_may_reach_terminal());
    apply::PredictReport report;
    try {
      report = apply::predict(
          model, request, [](const std::string& note) { log::info(note); },
          [&](const apply::PredictProgress& progress) {
            if (has_line) {
              line.update([&](double seconds, int width) {
                return progress_text(progress, seconds, width);
              });
            }
            return stop_request() == 0;
          });
    } catch (const Error&) {
      if (stop_request() == 0) throw;  // otherwise a signal interrupted the read or write
    }
    log::clear_status();
    if (const int signal = stop_request(); signal != 0) return stopped(signal);
    show_report(report);
    if (check_ && !report.differences.empty()) {
      throw Error(ErrorKind::kUnmet,
                  fmt::format("--check: expected rows like those in training, got {} (see above)",
                              counted(std::ssize(report.differences), "difference")));
    }
    return 0;
  }

 private:
  // A file name that promises another format would mislead whoever opens it. A pipe or device may
  // have any name.
  void require_right_endings() const {
    constexpr const char* kText = ".csv, .tsv or .txt (or that and .gz)";
    const auto is_new_or_file = [](const std::filesystem::path& file) {
      std::error_code ignored;
      return !std::filesystem::exists(file, ignored) ||
             std::filesystem::is_regular_file(file, ignored);
    };
    if (is_new_or_file(output_) && !apply::is_prediction_name(output_)) {
      throw Error(ErrorKind::kUsage,
                  fmt::format("--output: expected a name ending in {}, or in .parquet, got {}",
                              kText, in_quotes(output_)));
    }
    if (is_new_or_file(errors_) && !apply::is_text_name(errors_)) {
      throw Error(ErrorKind::kUsage, fmt::format("--errors: expected a name ending in {}, got {}",
                                                 kText, in_quotes(errors_)));
    }
  }

  void check_follow(Problems& problems) {
    if (data_.empty() && query_.empty()) data_ = "-";
    if (data_ != "-" || !query_.empty()) {
      problems.push_back(
          fmt::format("--follow: expected rows on standard input, got {}; remove one of them",
                      query_.empty() ? "the table " + in_quotes(data_) : "--query"));
    }
    if (!output_.empty() && output_ != "-") {
      problems.push_back(
          fmt::format("--follow: expected predictions on standard output, got --output {}; remove "
                      "one of them",
                      in_quotes(output_)));
    }
  }

  void check_errors(Problems& problems) {
    skips_errors_ = on_error_ == "skip";
    if (!on_error_.empty() && !skips_errors_ && on_error_ != "stop") {
      problems.push_back(
          fmt::format("--on-error: expected stop or skip, got {}", in_quotes(on_error_)));
    }
    if (!errors_.empty() && !skips_errors_) {
      problems.emplace_back("--errors: has no effect without --on-error skip");
    }
    // If the output is a pipe or a device, there is no default file for the errors next to it.
    std::error_code ignored;
    const bool is_file = !std::filesystem::exists(output_, ignored) ||
                         std::filesystem::is_regular_file(output_, ignored);
    if (errors_.empty() && skips_errors_ && output_ != "-" && is_file) {
      errors_ = output_ + ".errors.csv";
    }
  }

  apply::PredictRequest make_request(const apply::Model& model,
                                     const config::Config& config) const {
    apply::PredictRequest request;
    request.data = table_source(config.data, model.schema, data_, query_);
    request.output = output_;
    request.output_delimiter = output_delimiter(output_, request.data.format);
    request.output_decimal = request.data.format.decimal;
    request.num_threads = thread_count(config);
    request.kept = kept_columns_;
    request.on_error = skips_errors_ ? apply::OnError::kSkip : apply::OnError::kStop;
    request.errors = errors_;
    request.follows = follow_;
    return request;
  }

  int stopped(int signal) const {
    log::warning(output_ == "-" ? "interrupted; not all rows were predicted"
                                : "interrupted; no output was written");
    return 128 + signal;
  }

  void show_report(const apply::PredictReport& report) const {
    for (const std::string& warning : report.warnings) log::warning(warning);
    constexpr std::size_t kMaxLines = 10;
    const std::size_t num_lines = std::min(kMaxLines, report.differences.size());
    for (std::size_t i = 0; i < num_lines; ++i) {
      log::warning("unlike the training data: " + report.differences[i]);
    }
    if (num_lines < report.differences.size()) {
      log::warning(fmt::format("unlike the training data: {} more columns",
                               report.differences.size() - num_lines));
    }
    log::info(fmt::format("{} predicted in {} ({} rows/s){}", counted(report.num_rows, "row"),
                          human_duration(report.time_seconds),
                          with_thousands(rate(report.num_rows, report.time_seconds)),
                          output_ == "-" ? "" : ": " + output_));
  }

  std::string model_;
  std::string table_;
  std::string data_;
  std::string query_;
  FormatOptions format_;
  ThresholdOption threshold_;
  IntervalOption interval_;
  std::string output_;
  std::vector<std::string> kept_columns_;
  std::string on_error_;
  bool skips_errors_ = false;
  bool check_ = false;
  bool follow_ = false;
  std::string errors_;  // empty: rows with errors are not listed in a file
};

}  // namespace

std::unique_ptr<Command> make_predict_command() { return std::make_unique<PredictCommand>(); }

}  // namespace trainer::cli
