// SPDX-License-Identifier: Apache-2.0
// `trainer cv`: a cross-validation, with a table of the metrics of each fold.
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "trainer/base/io/log.h"
#include "trainer/workflows/experiments/cross_validation.h"

#include "cli/commands.h"
#include "cli/print_document.h"
#include "cli/resolve_config.h"
#include "cli/train_runs.h"

namespace trainer::cli {
namespace {

class CvCommand : public Command {
 public:
  bool takes_configuration() const override { return true; }

  std::vector<Option> options() override {
    return {{"--folds", &folds_, "VALUE", "Number of folds (default: data.folds, or 5)"},
            {"--repeats", &repeats_, "VALUE",
             "Number of repetitions with different folds (default: 1)"},
            {"--json", &json_, "", "Print cv.json instead of the table"}};
  }

  void check(const CommonOptions& /*common*/, Problems& problems) override {
    constexpr int64_t kMinFolds = 2;
    parse_count("--folds", folds_, num_folds_, problems, kMinFolds);
    parse_count("--repeats", repeats_, num_repeats_, problems);
  }

  int run(const CommonOptions& common) override {
    require_config(common, "cv", " --folds 5");
    choose_log_format(common);
    apply_quiet(common);
    const experiments::CrossValidationReport report =
        experiments::cross_validate(make_request(common));
    run_folder_ = report.folder;
    if (report.stop_signal != 0) return end_stopped(report, "cv");
    if (!report.is_collected) return 0;
    Document document;
    document.data("folder", report.folder.string());
    document.append(metrics::folds_document(report.results, report.counts));
    document.line("folder", report.folder.string());
    if (!json_ && log::console_format() == log::Format::kJson) {
      log::event("result", "complete: " + report.folder.string(), document.json());
    } else if (json_ || common.verbosity != Verbosity::kQuiet) {
      print_document(document, json_);
    }
    return 0;
  }

 private:
  experiments::CrossValidationRequest make_request(const CommonOptions& common) const {
    experiments::CrossValidationRequest request{series_request(common)};
    request.num_folds = num_folds_;
    request.num_repeats = num_repeats_;
    request.on_result = show_fold;
    return request;
  }

  std::string folds_;
  std::string repeats_;
  int64_t num_folds_ = 0;    // 0: not given; then data.folds or 5
  int64_t num_repeats_ = 0;  // 0: not given; then 1, or as in the resumed cross-validation
};

}  // namespace

std::unique_ptr<Command> make_cv_command() { return std::make_unique<CvCommand>(); }

}  // namespace trainer::cli
