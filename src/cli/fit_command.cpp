// SPDX-License-Identifier: Apache-2.0
// `trainer fit TABLE --target COLUMN`: from a table to a model and a report. All of it can be done
// by other commands: init, train and report.
#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "trainer/base/error.h"
#include "trainer/base/io/log.h"
#include "trainer/base/parallel/cpus.h"
#include "trainer/base/text/format.h"
#include "trainer/base/text/json.h"
#include "trainer/base/text/print_safely.h"
#include "trainer/base/time/stopwatch.h"
#include "trainer/config/load.h"
#include "trainer/launch/place.h"
#include "trainer/metrics/report.h"
#include "trainer/metrics/score.h"
#include "trainer/report/html/report.h"
#include "trainer/run/folder/run_dir.h"
#include "trainer/workflows/experiments/ensemble.h"
#include "trainer/workflows/experiments/search.h"

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
    options.push_back({"--json", &json_, "", "Print JSON"});
    return options;
  }

  void check(const CommonOptions& common, Problems& problems) override {
    new_config_.check(common, problems);
    for (const config::Override& override : common.overrides) {
      if (override.key == "members" && override.value == "1") {
        problems.emplace_back(
            "members: fit trains at least two models; use `trainer init` and `trainer --config "
            "FILE`");
      }
      if (!override.key.starts_with("data.") && override.key != "recipe") continue;
      problems.push_back(fmt::format(
          "{}: fit chooses it; change it in the file of `trainer init` and train with `trainer "
          "--config FILE`",
          override.key));
    }
  }

  int run(const CommonOptions& common) override {
    refuse_several_processes();
    apply_quiet(common);
    const Stopwatch stopwatch;
    const std::optional<std::string> file = new_config_.write();
    if (!file) return 0;
    CommonOptions training = common;
    training.config_files = {*file};
    if (new_config_.search_seconds() == 0) {
      return finish(experiments::train_ensemble(ensemble_request(training)), "ensemble", training);
    }
    const double seconds = std::max(1.0, new_config_.search_seconds() - stopwatch.seconds());
    return finish(experiments::search(search_request(training, {.seconds = seconds})), "search",
                  training);
  }

 private:
  // Writes the report of the model of an ensemble or a search, and shows it.
  template <class Report>
  int finish(const Report& report, const char* command, const CommonOptions& common) {
    run_folder_ = report.folder;
    if (report.stop_signal != 0) return end_stopped(report, command);
    const std::vector<metrics::Score> later =
        scores_of_later_rows(series_request(common), report.folder);
    const std::vector<std::string> important =
        report::write_own_report(report.folder, {.num_threads = usable_cpus()});
    log::clear_status();
    if (!json_ && common.verbosity == Verbosity::kQuiet) return 0;
    Document document =
        metrics::scores_document(shown_split(*report.result), report.result->report);
    if (!later.empty()) {
      Json scores;
      for (const metrics::Score& score : later) scores[score.name] = score.value;
      document.add("later_rows", "later rows", {scores, later_text(later, report.result->report)});
    }
    document.add("important", "important", {important, important_text(important)});
    show(document, report.folder, report.num_members, common.config_files.front().string());
    return 0;
  }

  static void refuse_several_processes() {
    if (launch::find_place(launch::process_environment).size == 1) return;
    throw Error(ErrorKind::kUsage,
                "fit runs as one process; use trainer init, and then trainer --config FILE with "
                "the launcher");
  }

  // Trains on the earlier rows of a table with dates and returns the scores for the last ones. What
  // is wrong with such a split, such as a class that is only there, is a warning.
  std::vector<metrics::Score> scores_of_later_rows(const experiments::SeriesRequest& request,
                                                   const std::filesystem::path& folder) const {
    if (new_config_.dates().empty()) return {};
    std::vector<config::Override> overrides = request.overrides;
    for (const auto& [key, value] : {std::pair<std::string, std::string>{"output_dir", folder},
                                     {"tag", "later_rows"},
                                     {"data.split", "chronological"},
                                     {"data.time", new_config_.dates()},
                                     {"data.test_fraction", "0.2"},
                                     {"members", "1"}}) {
      overrides.push_back({key, value, "fit"});
    }
    try {
      const experiments::RunOutcome outcome = request.train(
          {.config = config::load({config::read_document(request.config_files.front())}, overrides),
           .name = "later rows"});
      if (outcome.stop_signal != 0) return {};
      return metrics::scores_in(
          JsonReader::of_file(run::RunDir{outcome.run_dir}.summary())["test"]);
    } catch (const Error& e) {
      log::warning(fmt::format("no model was tested on later rows: {}", e.what()));
      return {};
    }
  }

  // Returns the scores of a model on later rows, beside those of the model on rows of all times.
  std::string later_text(const std::vector<metrics::Score>& later,
                         const metrics::Report& all) const {
    std::vector<std::string> texts;
    for (const metrics::Score& score : all.scores) {
      const std::optional<double> value = metrics::find_score(later, score.name);
      if (!value || !metrics::is_headline(score.name)) continue;
      texts.push_back(fmt::format("{} {} (all times {})", metrics::shown_name(score.name),
                                  metrics::score_text({score.name, *value}),
                                  metrics::score_text(score)));
    }
    return fmt::format("trained on four fifths of the rows and tested on the last by {}: {}",
                       new_config_.dates(), joined(texts));
  }

  void show(Document& document, const std::filesystem::path& folder, int64_t num_members,
            const std::string& file) const {
    const std::filesystem::path page = run::RunDir{folder}.report();
    document.add(
        "folder", "model",
        {folder.string(), fmt::format("{} ({} members)", short_path(folder), num_members)});
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
};

}  // namespace

std::unique_ptr<Command> make_fit_command() { return std::make_unique<FitCommand>(); }

}  // namespace trainer::cli
