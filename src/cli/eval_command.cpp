// SPDX-License-Identifier: Apache-2.0
// `trainer eval RUN_OR_CHECKPOINT`: metrics of a trained model on labeled data.
#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "trainer/apply/evaluate.h"
#include "trainer/base/error.h"
#include "trainer/base/text/condition.h"
#include "trainer/base/text/format.h"
#include "trainer/base/text/parse.h"
#include "trainer/base/text/suggest.h"
#include "trainer/metrics/report.h"
#include "trainer/metrics/score.h"

#include "cli/commands.h"
#include "cli/common_options.h"
#include "cli/model_options.h"
#include "cli/print_document.h"

namespace trainer::cli {
namespace {

// What --require asks of metrics.
struct Requirement {
  Condition holds;
  std::vector<std::string> names;  // of the metrics in it
};

// Parses a requirement of metrics that are among `known`, which `what` describes.
Requirement parse_requirement(const std::string& text, const std::vector<std::string>& known,
                              const std::string& what) {
  Requirement requirement;
  const auto full_name = [&](std::string_view given) {
    if (std::find(known.begin(), known.end(), given) == known.end()) {
      const auto near = nearest_word(given, known);
      throw Error(ErrorKind::kUsage,
                  fmt::format("--require: expected {}, got {}{}", what, in_quotes(given),
                              near ? fmt::format("; did you mean \"{}\"?", *near) : ""));
    }
    return requirement.names.emplace_back(given);
  };
  const auto to_limit = [](const std::string& name, const std::string& limit) -> Value {
    if (const auto number = parse_double(limit)) return *number;
    throw Error(ErrorKind::kUsage,
                fmt::format("--require: {}: expected a number, got {}", name, in_quotes(limit)));
  };
  requirement.holds =
      parse_condition(text, {.origin = "--require", .full_name = full_name, .limit = to_limit});
  return requirement;
}

// Returns why a requirement of the scores does not hold; empty: it does. A metric that is not
// defined, such as the AUROC of a single class, meets none.
std::string unmet_requirement(const std::string& text, const std::vector<metrics::Score>& scores) {
  std::vector<std::string> known;
  known.reserve(scores.size());
  for (const metrics::Score& score : scores) known.push_back(score.name);
  const Requirement requirement =
      parse_requirement(text, known, "a metric of these rows, " + joined(known, " or "));
  bool is_met =
      requirement.holds([&](const std::string& name) { return metrics::find_score(scores, name); });
  std::vector<std::string> values;
  for (const std::string& name : requirement.names) {
    const double value = metrics::find_score(scores, name).value();
    is_met = is_met && std::isfinite(value);
    values.push_back(
        fmt::format("{} {}", name, std::isfinite(value) ? shortest(value) : "undefined"));
  }
  if (is_met) return "";
  return fmt::format("--require: expected {}, got {}", text, joined(values));
}

class EvalCommand : public Command {
 public:
  std::vector<Option> options() override {
    return {model_option(model_),
            table_option(table_),
            {"--data", &data_, "FILE",
             "Table with the targets; - reads standard input (default: the run's own test split)"},
            query_option(query_),
            delimiter_option(format_, "as in the run"),
            decimal_option(format_, "as in the run"),
            {"--targets,--labels", &targets_, "FILE",
             "Labels or targets of --data, if that is an IDX file or a .npy array"},
            threshold_option(threshold_),
            {"--require", &require_, "EXPRESSION",
             "What must hold of the metrics, such as \"auroc>0.9 and log_loss<0.3\"; if it does "
             "not, the exit code is 10"},
            {"--json", &json_, "", "Print JSON"}};
  }

  void check(const CommonOptions& common, Problems& problems) override {
    if (data_.empty() && query_.empty()) move_table(model_, table_);
    take_table(table_, data_, problems);
    check_model("eval", model_, problems);
    if (data_.empty() && !targets_.empty()) {
      problems.emplace_back("--targets requires --data FILE");
    }
    check_data(data_, query_, problems);
    check_threshold(threshold_, problems);
    if (!require_.empty()) {
      try {
        parse_requirement(require_, metrics::score_names(), "a metric");
      } catch (const Error& e) {
        problems.emplace_back(e.what());
      }
    }
    check_overrides("eval", common, {"threads", "precision"}, problems);
  }

  int run(const CommonOptions& common) override {
    apply_quiet(common);
    apply::Model model = load_model(model_);
    const config::Config config = config_for(model, common, format_);
    apply_precision(config, model);
    const std::string threshold = apply_threshold(threshold_, model, thread_count(config));
    const apply::EvaluationResult evaluated = evaluate(model, config);
    show_notes(evaluated.notes);
    const data::TableSource data{.path = data_, .query = query_};
    const std::string rows = counted(evaluated.report.num_rows, "row");
    Document document =
        model_document(model, data, evaluated.split,
                       fmt::format("{}: {}", data_text(data, evaluated.split), rows));
    if (model.schema.labels.size() == 2) document.data("threshold", model.threshold);
    if (!threshold.empty()) document.line("threshold", threshold);
    document.append(metrics::scores_document("result", evaluated.report));
    document.append(metrics::details_document(evaluated.report));
    const std::vector<metrics::Score> scores = metrics::all_scores(evaluated.report);
    const std::string unmet = require_.empty() ? "" : unmet_requirement(require_, scores);
    if (!require_.empty()) document.data("requirement_met", unmet.empty());
    print_document(document, json_);
    if (!unmet.empty()) throw Error(ErrorKind::kUnmet, unmet);
    return 0;
  }

 private:
  apply::EvaluationResult evaluate(const apply::Model& model, const config::Config& config) const {
    const int64_t num_threads = thread_count(config);
    if (data_.empty() && query_.empty()) return apply::evaluate_own_split(model, num_threads);
    return apply::evaluate_file(
        model,
        {.data = table_source(config.data, model.schema, data_, query_), .targets = targets_},
        num_threads);
  }

  std::string model_;
  std::string table_;
  std::string data_;
  std::string query_;
  FormatOptions format_;
  std::string targets_;
  ThresholdOption threshold_;
  std::string require_;
};

}  // namespace

std::unique_ptr<Command> make_eval_command() { return std::make_unique<EvalCommand>(); }

}  // namespace trainer::cli
