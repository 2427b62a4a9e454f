// SPDX-License-Identifier: Apache-2.0
// `trainer fit TABLE --target COLUMN`: from a table to a model and a report. All of it can be done
// by other commands: init, cv --ensemble and report.
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "trainer/base/error.h"
#include "trainer/base/io/log.h"
#include "trainer/base/parallel/cpus.h"
#include "trainer/base/text/format.h"
#include "trainer/base/text/print_safely.h"
#include "trainer/launch/place.h"
#include "trainer/metrics/folds.h"
#include "trainer/report/html/report.h"
#include "trainer/run/folder/run_dir.h"
#include "trainer/workflows/experiments/cross_validation.h"

#include "cli/commands.h"
#include "cli/new_config.h"
#include "cli/print_document.h"
#include "cli/train_runs.h"

namespace trainer::cli {
namespace {

// Returns the most important columns, as many as fit into a line, and how many others count.
std::string important_text(const std::vector<std::string>& columns) {
  constexpr std::size_t kWidth = 54;
  if (columns.empty()) return "no column alone; see the report";
  std::vector<std::string> shown;
  std::size_t width = 0;
  for (const std::string& column : columns) {
    width += column.size() + std::string_view("\"\", ").size();
    if (!shown.empty() && width > kWidth) break;
    shown.push_back(in_quotes(column));
  }
  const std::size_t num_more = columns.size() - shown.size();
  if (num_more > 0) shown.push_back(fmt::format("{} more", num_more));
  return joined(shown);
}

class FitCommand : public Command {
 public:
  std::vector<Option> options() override {
    std::vector<Option> options = new_config_.options();
    options.push_back({"--folds", &folds_, "VALUE",
                       "Number of models, each tested on the rows that it has not seen (default: "
                       "5)"});
    options.push_back({"--json", &json_, "", "Print JSON"});
    return options;
  }

  void check(const CommonOptions& common, Problems& problems) override {
    constexpr int64_t kMinFolds = 2;
    new_config_.check(common, problems);
    parse_count("--folds", folds_, num_folds_, problems, kMinFolds);
    for (const config::Override& override : common.overrides) {
      if (!override.key.starts_with("data.") && override.key != "recipe") continue;
      problems.push_back(fmt::format(
          "{}: fit chooses it; change it in the file of `trainer init` and train with `trainer cv "
          "--ensemble --config FILE`",
          override.key));
    }
  }

  int run(const CommonOptions& common) override {
    refuse_several_processes();
    apply_quiet(common);
    const std::optional<std::string> file = new_config_.write(num_folds_);
    if (!file) return 0;
    CommonOptions training = common;
    training.config_files = {*file};
    const experiments::CrossValidationReport report =
        experiments::cross_validate(make_request(training));
    if (report.stop_signal != 0) return end_stopped(report, "cv");
    const std::vector<std::string> important =
        report::write_own_report(report.folder, {.num_threads = usable_cpus()});
    log::clear_status();
    if (json_ || common.verbosity != Verbosity::kQuiet) show(report, important, *file);
    return 0;
  }

 private:
  static void refuse_several_processes() {
    if (launch::find_place(launch::process_environment).size == 1) return;
    throw Error(ErrorKind::kUsage,
                "fit runs as one process; use trainer init, and then trainer cv --ensemble "
                "--config FILE with the launcher");
  }

  experiments::CrossValidationRequest make_request(const CommonOptions& common) const {
    experiments::CrossValidationRequest request{series_request(common)};
    request.num_folds = num_folds_;
    request.ensemble = true;
    request.on_result = show_fold;
    return request;
  }

  void show(const experiments::CrossValidationReport& report,
            const std::vector<std::string>& important, const std::string& file) const {
    const std::filesystem::path page = run::RunDir{report.folder}.report();
    Document document = metrics::means_document(report.results, metrics::Shown::kHeadline);
    document.add("important", "important", {important, important_text(important)});
    document.add("folder", "model",
                 {report.folder.string(), fmt::format("{} ({} members)", short_path(report.folder),
                                                      report.results.size())});
    document.add("report", "report", {page.string(), short_path(page)});
    document.add("configuration", "settings", file);
    print_document(document, json_);
    if (json_) return;
    print_safely(
        "\n  trainer predict new.csv            predict the rows of another table\n"
        "  trainer explain                    what the predictions depend on\n"
        "  trainer export -o model.onnx       use the model in another program\n");
  }

  NewConfig new_config_{"fit", Purpose::kTrain};
  std::string folds_;
  int64_t num_folds_ = experiments::kDefaultFolds;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_fit_command() { return std::make_unique<FitCommand>(); }

}  // namespace trainer::cli
