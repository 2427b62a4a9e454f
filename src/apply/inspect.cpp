// SPDX-License-Identifier: Apache-2.0
#include "trainer/apply/inspect.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "trainer/config/config.h"  // IWYU pragma: keep
#include "trainer/config/fields.h"
#include "trainer/core/format.h"
#include "trainer/core/labeled_lines.h"
#include "trainer/metrics/score.h"
#include "trainer/run/run_dir.h"

namespace trainer::apply {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxLines = 40;  // of columns
constexpr std::size_t kMaxNames = 8;   // in one line

std::string some(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size() && i < kMaxNames; ++i) {
    text += fmt::format("{}{}", i == 0 ? "" : ", ", in_quotes(words[i]));
  }
  if (words.size() > kMaxNames) {
    text +=
        fmt::format(" and {} more", with_thousands(static_cast<int64_t>(words.size() - kMaxNames)));
  }
  return text;
}

std::string counted(std::size_t count, const char* one, const char* several) {
  return fmt::format("{} {}", with_thousands(static_cast<int64_t>(count)),
                     count == 1 ? one : several);
}

std::string kind_text(data::ColumnKind kind) {
  return kind == data::ColumnKind::kIgnored ? "dropped" : to_text(kind);
}

std::string columns_text(const std::vector<data::Column>& columns) {
  std::vector<std::string> counts;
  for (std::size_t i = 0; i < enum_names<data::ColumnKind>().size(); ++i) {
    const auto kind = static_cast<data::ColumnKind>(i);
    const auto count = std::count_if(columns.begin(), columns.end(),
                                     [&](const data::Column& c) { return c.kind == kind; });
    if (count > 0) counts.push_back(fmt::format("{} {}", with_thousands(count), kind_text(kind)));
  }
  return fmt::format("{}", fmt::join(counts, ", "));
}

std::string score_text(const run::EpochSummary& score) {
  std::string text = score.loss ? metrics::loss_text(*score.loss) : "not finite";
  if (score.accuracy) text += fmt::format("  {:6.2f} %", 100 * *score.accuracy);
  return text;
}

bool is_best_epoch(const Model& model, int64_t epoch) {
  const std::optional<checkpoint::Best>& best = model.members.front().best;
  return best && best->epoch == epoch;
}

/// The first epochs, the last ones and the best; -1 stands for those between.
std::vector<int64_t> shown_epochs(const run::History& history, const Model& model) {
  constexpr int64_t kFirst = 3;
  constexpr int64_t kLast = 7;
  const auto count = static_cast<int64_t>(history.epochs.size());
  std::vector<int64_t> shown;
  for (int64_t i = 0; i < count; ++i) {
    const bool is_best = is_best_epoch(model, history.epochs[static_cast<std::size_t>(i)].epoch);
    if (i < kFirst || i >= count - kLast || is_best || count <= kFirst + kLast + 2) {
      shown.push_back(i);
    } else if (shown.back() != -1) {
      shown.push_back(-1);
    }
  }
  return shown;
}

/// What members have in common: lines, the first one for the label.
using DescribeMember = std::function<std::vector<std::string>(const Member&)>;

/// Once for all members, or for each of those that differ.
void add_described(const Model& model, const std::string& label, const DescribeMember& describe,
                   LabeledLines& lines) {
  std::vector<std::pair<std::vector<std::string>, std::vector<std::size_t>>> kinds;  // of members
  for (std::size_t i = 0; i < model.members.size(); ++i) {
    std::vector<std::string> text = describe(model.members[i]);
    const auto same = std::find_if(kinds.begin(), kinds.end(),
                                   [&](const auto& kind) { return kind.first == text; });
    if (same != kinds.end()) {
      same->second.push_back(i + 1);
    } else {
      kinds.emplace_back(std::move(text), std::vector{i + 1});
    }
  }
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    const auto& [text, numbers] = kinds[k];
    const std::string of = kinds.size() == 1
                               ? ""
                               : fmt::format("{} {}: ", numbers.size() == 1 ? "member" : "members",
                                             fmt::join(numbers, ", "));
    lines.add(k == 0 ? label : "", of + text.front());
    for (std::size_t i = 1; i < text.size(); ++i) lines.add("", text[i]);
  }
}

std::vector<std::string> network_lines(const Member& member) {
  std::vector<std::string> lines = network::layer_lines(member.network);
  lines.insert(lines.begin(), fmt::format("{} parameters{}",
                                          with_thousands(network::num_parameters(member.network)),
                                          member.is_averaged ? ", averaged weights (EMA)" : ""));
  return lines;
}

std::vector<std::string> training_lines(const Member& member) {
  const auto value = [&](const char* key) { return config::value_text(key, *member.config); };
  return {fmt::format("{}, learning rate {} ({}), batch size {}", value("training.optimizer.name"),
                      value("training.learning_rate"), value("training.schedule.name"),
                      value("training.batch_size"))};
}

void add_columns(const data::Schema& schema, LabeledLines& lines) {
  if (schema.columns.empty()) {
    lines.add("features", fmt::format("{}: {}", with_thousands(schema.num_features()),
                                      some(schema.feature_names)));
    return;
  }
  lines.add("columns", columns_text(schema.columns));
  for (std::size_t i = 0; i < schema.columns.size() && i < kMaxLines; ++i) {
    const data::Column& column = schema.columns[i];
    lines.add("", fmt::format("{}: {}", in_quotes(column.name), column_text(column)));
  }
  if (schema.columns.size() > kMaxLines) {
    lines.add("",
              fmt::format("and {} more; see --json",
                          with_thousands(static_cast<int64_t>(schema.columns.size() - kMaxLines))));
  }
}

void add_history(const Inspection& inspection, LabeledLines& lines) {
  const run::History& history = *inspection.history;
  lines.add("run folder", inspection.run.string());
  for (const run::Start& start : history.starts) {
    lines.add("started", fmt::format("{} on {}", start.time, start.device));
  }
  if (history.epochs.empty()) return;
  const bool has_accuracy = history.epochs.front().train.accuracy.has_value();
  const int width = has_accuracy ? 20 : 14;
  lines.add("history",
            fmt::format("{:>5}  {:>{}}  {:>{}}  {:>8}", "epoch",
                        has_accuracy ? "train loss  accuracy" : "train loss", width,
                        has_accuracy ? "val loss  accuracy" : "val loss", width, "time"));
  for (const int64_t i : shown_epochs(history, inspection.model)) {
    if (i < 0) {
      lines.add("", "  ...");
      continue;
    }
    const run::EpochRecord& epoch = history.epochs[static_cast<std::size_t>(i)];
    const bool is_best = is_best_epoch(inspection.model, epoch.epoch);
    lines.add("",
              fmt::format("{:>5}  {:>{}}  {:>{}}  {:>8}{}", epoch.epoch, score_text(epoch.train),
                          width, epoch.validation ? score_text(*epoch.validation) : "-", width,
                          human_duration(epoch.time_seconds), is_best ? "  best" : ""));
  }
  std::vector<std::string> scores;
  const run::EpochSummary test = history.test.value_or(run::EpochSummary{});
  for (const metrics::Score& score : test.scores) {
    if (!metrics::is_headline(score.name)) continue;
    scores.push_back(metrics::shown_name(score.name) + " " + metrics::score_text(score));
  }
  if (!scores.empty()) {
    lines.add("test", fmt::format("{} (best epoch)", fmt::join(scores, ", ")));
  }
}

std::string best_text(const Member& member) {
  if (!member.best) return "none yet";
  return fmt::format("{} ({} {})", member.best->epoch,
                     config::value_text("training.best_metric", *member.config),
                     metrics::loss_text(member.best->value));
}

void add_scores(const char* split, const std::vector<metrics::Score>& scores, LabeledLines& lines) {
  std::vector<std::string> texts;
  for (const metrics::Score& score : scores) {
    texts.push_back(metrics::shown_name(score.name) + " " + metrics::score_text(score));
  }
  if (!texts.empty()) lines.add("", fmt::format("{}: {}", split, fmt::join(texts, ", ")));
}

void add_epoch_metrics(const Member& member, LabeledLines& lines) {
  const checkpoint::EpochMetrics& metrics = member.epoch_metrics;
  if (metrics.epoch == 0) return;
  lines.add("metrics", fmt::format("of epoch {}", metrics.epoch));
  add_scores("train", metrics.train, lines);
  add_scores("validation", metrics.validation, lines);
}

void add_temperatures(const Model& model, LabeledLines& lines) {
  std::vector<std::string> texts;
  for (const Member& member : model.members) {
    if (member.temperature != 1) texts.push_back(fmt::format("{:.4g}", member.temperature));
  }
  if (texts.empty()) return;
  lines.add("calibrated", fmt::format("logits divided by the temperature {}", joined(texts)));
}

void add_progress(const Model& model, LabeledLines& lines) {
  if (model.is_ensemble()) {
    lines.add("ensemble", fmt::format("{}, whose predictions are averaged",
                                      fmt::format("{} members", model.members.size())));
    for (const Member& member : model.members) {
      lines.add("",
                fmt::format("{}: best epoch {}", run::find_run_dir(member.file).filename().string(),
                            best_text(member)));
    }
    return;
  }
  const Member& member = model.members.front();
  lines.add("progress",
            fmt::format("epoch {} of {}, step {}", member.position.epoch,
                        model.config().training.epochs, with_thousands(member.position.step)));
  lines.add("best epoch", best_text(member));
  add_epoch_metrics(member, lines);
}

}  // namespace

std::string column_text(const data::Column& column) {
  std::string text = kind_text(column.kind);
  switch (column.kind) {
    case data::ColumnKind::kNumeric:
      if (column.offset != 0) {
        text += fmt::format(", minus offset {}", shortest(column.offset));
      }
      text += column.fill ? fmt::format(", missing values filled with {}",
                                        data::text_in_file_units(column, *column.fill))
                          : ", missing values are an error";
      if (column.limits) {
        text += fmt::format(", clipped to {} .. {}",
                            data::text_in_file_units(column, column.limits->low),
                            data::text_in_file_units(column, column.limits->high));
      }
      if (!column.quantiles.empty()) {
        text += column.quantile_score == data::QuantileScore::kRank ? ", quantile rank"
                                                                    : ", normal quantile score";
      }
      break;
    case data::ColumnKind::kCategorical:
      text += fmt::format(", {}: {}", counted(column.categories.size(), "category", "categories"),
                          some(column.categories));
      if (column.embedding_size > 0) {
        text += fmt::format(", embedding of size {}", column.embedding_size);
      }
      if (column.is_sign) return text + ", -1 or 1, 0 where missing";
      break;
    case data::ColumnKind::kId:
      return "row identifier";
    case data::ColumnKind::kIgnored:
      return text + (column.reason.empty() ? "" : ": " + column.reason);
  }
  return column.has_missing_indicator ? text + ", missing indicator" : text;
}

Inspection inspect(const fs::path& run_or_checkpoint) {
  Inspection inspection{load_model(run_or_checkpoint), {}, {}};
  inspection.run = run::find_run_dir(inspection.model.file);
  if (!inspection.run.empty()) inspection.history = run::read_history(inspection.run);
  return inspection;
}

std::string inspection_text(const Inspection& inspection) {
  const Model& model = inspection.model;
  const data::Schema& schema = model.schema;
  std::error_code unknown;
  LabeledLines lines;
  lines.add("file", fmt::format("{} ({})", model.file.string(),
                                human_bytes(fs::file_size(model.file, unknown))));
  lines.add("written by", "trainer " + model.trainer_version);
  add_progress(model, lines);
  add_temperatures(model, lines);
  if (schema.task == config::Task::kRegression) {
    lines.add("task", fmt::format("regression, {} {}",
                                  schema.target_names.size() == 1 ? "target" : "targets",
                                  some(schema.target_names)));
  } else {
    lines.add("task",
              fmt::format("classification, target {}, {} classes: {}", some(schema.target_names),
                          with_thousands(std::ssize(schema.labels)), some(schema.labels)));
  }
  add_described(model, "model", network_lines, lines);
  lines.add("loss", config::to_text(model.loss));
  add_described(model, "training", training_lines, lines);
  lines.add("scaling", config::value_text("data.scaling", model.config()));
  add_columns(schema, lines);
  for (const data::Fingerprint& file : model.fingerprints) {
    lines.add("data file", fmt::format("{}: {}", file.path, data::content_text(file)));
  }
  if (inspection.history) add_history(inspection, lines);
  return lines.text();
}

}  // namespace trainer::apply
