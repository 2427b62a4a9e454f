// SPDX-License-Identifier: Apache-2.0
// `trainer config schedule`: reads the data and prints the steps and learning rates of a run.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "trainer/base/io/terminal.h"
#include "trainer/base/text/document.h"
#include "trainer/base/text/format.h"
#include "trainer/config/fields.h"
#include "trainer/config/recipe.h"
#include "trainer/nn/schedule/overview.h"
#include "trainer/table/cached/load.h"
#include "trainer/table/dataset.h"

#include "cli/commands.h"
#include "cli/live_view.h"
#include "cli/print_document.h"
#include "cli/resolve_config.h"

namespace trainer::cli {
namespace {

constexpr int64_t kMaxRows = 16;  // rows of the table of learning rates
constexpr int kCurveWidth = 60;
constexpr int kCurveHeight = 8;
constexpr int kRateWidth = 9;  // width of the labels beside the curve

/// What the preview shows: the schedule, and the number of rows of each split.
struct Preview {
  config::Config config;
  schedule::ScheduleOverview overview;
  int64_t num_train = 0;
  int64_t num_validation = 0;
  int64_t num_test = 0;
};

Preview make_preview(config::Config config) {
  const data::Datasets data = cache::load(config.data, static_cast<uint64_t>(config.seed));
  config::complete_recipe(config, data::recipe_facts(data));
  return {.config = config,
          .overview = schedule::make_overview(config.training, data.train.size()),
          .num_train = data.train.size(),
          .num_validation = data.validation.size(),
          .num_test = data.test.size()};
}

bool follows_metric(const Preview& preview) {
  return preview.overview.schedule.name == config::ScheduleName::kReduceOnPlateau;
}

// Returns the metric that reduce_on_plateau follows, such as "validation loss".
std::string watched_metric(const Preview& preview) {
  return fmt::format("{} {}", preview.num_validation > 0 ? "validation" : "training",
                     config::to_text(preview.config.training.best_metric));
}

std::string steps_text(const schedule::ScheduleOverview& overview) {
  const bool is_short = overview.samples_of_last_step < overview.samples_per_step;
  return fmt::format(
      "{} per epoch{}; {} in {}", with_thousands(overview.steps_per_epoch),
      is_short ? fmt::format(", the last with {}", counted(overview.samples_of_last_step, "row"))
               : "",
      with_thousands(overview.schedule.total_steps), counted(overview.epochs, "epoch"));
}

// Returns when the first reductions come: "after epoch 4, 8, 12, ...", or in steps if one of them
// comes within an epoch.
std::string first_reductions_text(const schedule::ScheduleOverview& overview) {
  const std::vector<int64_t>& steps = overview.first_reductions;
  if (steps.empty()) return "none; the run ends before the first one";
  const auto is_whole = [&](int64_t step) { return step % overview.steps_per_epoch == 0; };
  const bool in_epochs = std::all_of(steps.begin(), steps.end(), is_whole);
  std::vector<std::string> numbers;
  numbers.reserve(steps.size() + 1);
  for (const int64_t step : steps) {
    numbers.push_back(with_thousands(in_epochs ? step / overview.steps_per_epoch : step));
  }
  if (steps.size() >= schedule::kMaxReductions) numbers.emplace_back("...");
  return fmt::format("after {} {}", in_epochs ? "epoch" : "step", fmt::join(numbers, ", "));
}

std::string reductions_text(const Preview& preview) {
  const std::string factor = shortest(preview.overview.schedule.gamma);
  const std::string first = first_reductions_text(preview.overview);
  if (!follows_metric(preview)) return fmt::format("by a factor of {}: {}", factor, first);
  return fmt::format(
      "by a factor of {}, depending on the {}; the rates below do not include reductions. If it "
      "never improved: {}",
      factor, watched_metric(preview), first);
}

std::string batch_text(const Preview& preview) {
  const int64_t num_rows = preview.overview.samples_per_step;
  const int64_t batch_size = std::min(preview.config.training.batch_size, num_rows);
  const int64_t num_batches = (num_rows + batch_size - 1) / batch_size;
  std::string rows = counted(num_rows, "row");
  if (num_batches == 1) return rows;
  return fmt::format("{}: {} batches of {}", rows, with_thousands(num_batches),
                     with_thousands(batch_size));
}

void add_summary(const Preview& preview, Document& document) {
  const schedule::ScheduleOverview& overview = preview.overview;
  const int64_t warmup_steps = overview.schedule.warmup_steps;
  const std::string name = config::to_text(preview.config.training.schedule.name);
  document.add(
      "rows", "rows",
      {{{"train", preview.num_train},
        {"validation", preview.num_validation},
        {"test", preview.num_test}},
       fmt::format("{} training, {} validation, {} test", with_thousands(preview.num_train),
                   with_thousands(preview.num_validation), with_thousands(preview.num_test))});
  document.add("effective_batch", "effective batch",
               {overview.samples_per_step, batch_text(preview)});
  document.data("epochs", overview.epochs);
  document.data("steps_per_epoch", overview.steps_per_epoch);
  document.add("total_steps", "steps", {overview.schedule.total_steps, steps_text(overview)});
  document.add("warmup_steps", "warm-up",
               {warmup_steps, warmup_steps == 0 ? "none" : counted(warmup_steps, "step")});
  document.add("schedule", "schedule",
               {name, fmt::format("{}, peak learning rate {}", name,
                                  shortest(preview.config.training.learning_rate))});
  document.data("follows", follows_metric(preview) ? Json(watched_metric(preview)) : Json());
  document.data("first_reductions_after_steps", overview.first_reductions);
  if (overview.schedule.name == config::ScheduleName::kStep || follows_metric(preview)) {
    document.line("reductions", reductions_text(preview));
  }
}

Table rates_table(const std::vector<schedule::Segment>& segments) {
  Table table({{"epoch", "epoch"},
               {"first_step", "first step"},
               {"last_step", "last step"},
               {"first", "learning rate"},
               {"last", "at the end"}});
  for (const schedule::Segment& segment : segments) {
    table.add({{segment.epoch, with_thousands(segment.epoch)},
               {segment.first_step, with_thousands(segment.first_step)},
               {segment.last_step, with_thousands(segment.last_step)},
               {segment.first_rate, fmt::format("{:.3e}", segment.first_rate)},
               {segment.last_rate, fmt::format("{:.3e}", segment.last_rate)}});
  }
  return table;
}

// The curve has the learning rate at the middle of each column's steps.
std::string curve_text(const schedule::ScheduleOverview& overview) {
  const Terminal terminal = standard_output_terminal();
  const int width = std::clamp(terminal.width - kRateWidth - 4, 10, kCurveWidth);
  const int64_t steps = overview.schedule.total_steps;
  std::vector<double> rates;
  rates.reserve(static_cast<std::size_t>(width));
  for (int column = 0; column < width; ++column) {
    const auto step = static_cast<int64_t>((column + 0.5) * static_cast<double>(steps) / width);
    rates.push_back(schedule::learning_rate(overview.schedule, step));
  }
  const double max_rate = *std::max_element(rates.begin(), rates.end());
  std::string text;
  std::string label = fmt::format("{:.2e}", max_rate);
  for (const std::string& line :
       draw_curve(rates, kCurveHeight, terminal.unicode ? Ink::kBlocks : Ink::kAscii)) {
    text += fmt::format("{:>{}} |{}\n", label, kRateWidth, line);
    label.clear();
  }
  text += fmt::format("{:>{}} +{:->{}}\n", "0", kRateWidth, "", width);
  const std::string last = fmt::format("step {}", with_thousands(steps));
  text += fmt::format("{:{}}  1{:>{}}\n", "", kRateWidth, last, width - 1);
  return text;
}

// People see only the epochs in which something changes; JSON has all epochs.
Document preview_document(const Preview& preview) {
  Document document;
  add_summary(preview, document);
  document.show(rates_table(schedule::summary_segments(preview.overview, kMaxRows)));
  document.picture(curve_text(preview.overview));
  document.data("learning_rates", rates_table(schedule::epoch_segments(preview.overview)).json());
  return document;
}

class ScheduleCommand : public Command {
 public:
  bool takes_configuration() const override { return true; }

  std::vector<Option> options() override { return {{"--json", &json_, "", "Print JSON"}}; }

  int run(const CommonOptions& common) override {
    require_config(common, "config schedule");
    const ResolvedConfig resolved = resolve_config(common, checkpoint::OpenMode::kReadOnly);
    print_document(preview_document(make_preview(resolved.config.config)), json_);
    return 0;
  }

 private:
};

}  // namespace

std::unique_ptr<Command> make_schedule_command() { return std::make_unique<ScheduleCommand>(); }

}  // namespace trainer::cli
