// SPDX-License-Identifier: Apache-2.0
// `trainer search`: tries configurations and makes one ensemble of the best.
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "trainer/base/io/log.h"
#include "trainer/base/text/document.h"
#include "trainer/base/text/print_safely.h"
#include "trainer/config/fields.h"
#include "trainer/metrics/report.h"
#include "trainer/workflows/experiments/search.h"

#include "cli/commands.h"
#include "cli/print_document.h"
#include "cli/resolve_config.h"
#include "cli/train_runs.h"

namespace trainer::cli {
namespace {

class SearchCommand : public Command {
 public:
  bool takes_configuration() const override { return true; }

  std::string footer() const override {
    return "\nA key is searched where its value is a range, such as\n"
           "KEY='log(LOW,HIGH)', 'uniform(LOW,HIGH)', 'int(LOW,HIGH)' or\n"
           "'choice(A,B,...)'. Without any, the usual keys of the recipe are;\n"
           "--print-space prints them.\n";
  }

  std::vector<Option> options() override {
    return {
        {"--time", &time_, "TIME",
         "Time for all trials, of all starts, such as 60s, 10m or 2h (default: 10m, unless "
         "--trials)"},
        {"--trials", &trials_, "N", "At most so many configurations"},
        {"--folds", &folds_, "VALUE",
         "Number of folds of each (default: 5; 1: one validation split)"},
        {"--max-members", &max_members_, "N",
         "At most so many networks in the model, which limits its size and the time to predict"},
        {"--recipes", &recipe_names_, "NAME,...",
         "Recipes that trials take in turn, with the preprocessing of the first: "
         "tabm,realmlp,plain",
         config::words(config::find_field("recipe")->access)},
        {"--print-space", &print_space_, "", "Print the keys and their ranges, and exit"},
        {"--json", &json_, "", "Print JSON"}};
  }

  void check(const CommonOptions& common, Problems& problems) override {
    parse_count("--trials", trials_, limits_.trials, problems);
    parse_count("--folds", folds_, num_folds_, problems);
    parse_count("--max-members", max_members_, limits_.members, problems);
    parse_time(time_, limits_.seconds, problems);
    parse_recipes(recipe_names_, recipes_, problems);
    for (const config::Override& one : common.overrides) {
      if (experiments::is_range(one.value)) space_.push_back({one.key, one.value});
    }
  }

  int run(const CommonOptions& common) override {
    CommonOptions fixed = common;
    std::erase_if(fixed.overrides,
                  [](const config::Override& one) { return experiments::is_range(one.value); });
    require_config(fixed, "search", " --time 10m");
    choose_log_format(fixed);
    apply_quiet(fixed);
    experiments::SearchRequest request = search_request(fixed, limits_);
    request.space = space_;
    request.recipes = recipes_;
    request.num_folds = num_folds_;
    if (print_space_) return show_space(request);
    const experiments::SearchReport report = experiments::search(request);
    run_folder_ = report.folder;
    if (report.stop_signal != 0) return end_stopped(report, "search");
    if (!report.is_collected) return 0;
    if (report.trials.size() == 1 && limits_.trials != 1) {
      log::warning("the time was enough for the configuration as it is only; set a longer --time");
    }
    Document document = report.document();
    if (json_) {
      print_document(document, json_);
      return 0;
    }
    if (common.verbosity == Verbosity::kQuiet) return 0;
    if (report.result) {
      document.append(metrics::scores_document(shown_split(*report.result), report.result->report));
    }
    document.line("model", short_path(report.folder));
    document.line("next", "trainer report; trainer predict new.csv");
    print_document(document, false);
    return 0;
  }

 private:
  // The lines can be typed again; of several recipes, comments say to which they belong.
  static int show_space(const experiments::SearchRequest& request) {
    const std::vector<experiments::RecipeSpace> spaces = experiments::search_spaces(request);
    for (const experiments::RecipeSpace& space : spaces) {
      if (spaces.size() > 1) print_safely(fmt::format("# {}\n", config::to_text(space.recipe)));
      for (const experiments::SpaceKey& key : space.keys) {
        print_safely(fmt::format("'{}={}'\n", key.key, key.range));
      }
    }
    return 0;
  }

  std::string time_;
  std::string trials_;
  std::string folds_;
  std::string max_members_;
  std::string recipe_names_;
  std::vector<config::Recipe> recipes_;
  bool print_space_ = false;
  experiments::SearchLimits limits_;
  int64_t num_folds_ = 0;
  std::vector<experiments::SpaceKey> space_;
};

}  // namespace

std::unique_ptr<Command> make_search_command() { return std::make_unique<SearchCommand>(); }

}  // namespace trainer::cli
