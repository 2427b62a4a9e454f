// SPDX-License-Identifier: Apache-2.0
// `trainer ensemble`: trains several models and combines them into one.
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "trainer/base/io/log.h"
#include "trainer/base/text/json.h"  // IWYU pragma: keep
#include "trainer/base/text/print_safely.h"
#include "trainer/config/fields.h"
#include "trainer/config/types.h"
#include "trainer/metrics/report.h"
#include "trainer/workflows/experiments/ensemble.h"

#include "cli/commands.h"
#include "cli/print_document.h"
#include "cli/resolve_config.h"
#include "cli/train_runs.h"

namespace trainer::cli {
namespace {

class EnsembleCommand : public Command {
 public:
  bool takes_configuration() const override { return true; }

  std::vector<Option> options() override {
    return {{"--members", &members_, "VALUE", "Number of models to train (default: members, or 5)"},
            {"--recipes", &recipe_names_, "NAME,...",
             "Recipes that the members take in turn, with the preprocessing of the first: "
             "realmlp,tabm",
             config::words(config::find_field("recipe")->access)},
            {"--json", &json_, "", "Print summary.json instead of the results"}};
  }

  void check(const CommonOptions& /*common*/, Problems& problems) override {
    constexpr int64_t kMinMembers = 2;
    parse_count("--members", members_, num_members_, problems, kMinMembers);
    parse_recipes(recipe_names_, recipes_, problems);
  }

  int run(const CommonOptions& common) override {
    require_config(common, "ensemble", " --members 5");
    choose_log_format(common);
    apply_quiet(common);
    const experiments::EnsembleReport report = experiments::train_ensemble(make_request(common));
    run_folder_ = report.folder;
    if (report.stop_signal != 0) return end_stopped(report, "ensemble");
    if (!report.is_collected) return 0;
    if (json_) {
      print_safely(result_text(with_folder(report.folder, report.json)));
    } else if (log::console_format() == log::Format::kJson) {
      log::event("result", "complete: " + report.folder.string(),
                 with_folder(report.folder, report.json));
    } else if (common.verbosity != Verbosity::kQuiet) {
      Document document;
      if (report.result) {
        std::vector<metrics::ScoreColumn> before;
        if (!report.member_means.empty()) before = {{"mean of its members", report.member_means}};
        document =
            metrics::scores_document(shown_split(*report.result), report.result->report, before);
      }
      document.line("folder", short_path(report.folder));
      document.line("next", "trainer report; trainer explain; trainer predict new.csv");
      print_document(document, false);
    }
    return 0;
  }

 private:
  experiments::EnsembleRequest make_request(const CommonOptions& common) const {
    experiments::EnsembleRequest request = ensemble_request(common);
    request.num_members = num_members_;
    request.recipes = recipes_;
    return request;
  }

  std::string members_;
  int64_t num_members_ = 0;  // 0: not given; then `members` or 5, or as in the resumed ensemble
  std::string recipe_names_;
  std::vector<config::Recipe> recipes_;  // empty: not given; then that of the configuration
};

}  // namespace

std::unique_ptr<Command> make_ensemble_command() { return std::make_unique<EnsembleCommand>(); }

}  // namespace trainer::cli
