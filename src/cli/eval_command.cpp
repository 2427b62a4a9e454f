// SPDX-License-Identifier: Apache-2.0
// `trainer eval RUN_OR_CHECKPOINT`: metrics of a trained model on labeled data.
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "trainer/apply/evaluate.h"
#include "trainer/base/text/format.h"
#include "trainer/metrics/report.h"

#include "cli/commands.h"
#include "cli/common_options.h"
#include "cli/model_options.h"
#include "cli/print_document.h"

namespace trainer::cli {
namespace {

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
    print_document(document, json_);
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
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_eval_command() { return std::make_unique<EvalCommand>(); }

}  // namespace trainer::cli
