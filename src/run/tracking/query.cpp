// SPDX-License-Identifier: Apache-2.0
#include "trainer/run/tracking/query.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <functional>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "trainer/base/error.h"
#include "trainer/base/text/format.h"
#include "trainer/base/text/parse.h"
#include "trainer/base/text/suggest.h"
#include "trainer/config/fields.h"

namespace trainer::tracking {
namespace {

const std::vector<std::string> kFieldNames = {"name",    "kind", "state", "tag",   "note",
                                              "started", "time", "best",  "epochs"};

[[noreturn]] void fail(const std::string& problem) { throw Error(ErrorKind::kUsage, problem); }

bool is_field(const std::string& name) {
  return std::find(kFieldNames.begin(), kFieldNames.end(), name) != kFieldNames.end();
}

bool is_metric(const std::string& name) {
  return name.starts_with("train.") || name.starts_with("val.") || name.starts_with("test.");
}

std::set<std::string> metric_names(std::span<const RunEntry> entries) {
  std::set<std::string> names;
  for (const RunEntry& entry : entries) {
    for (const metrics::Score& score : entry.metrics) names.insert(score.name);
  }
  return names;
}

/// Returns the keys that end in `name`, such as training.learning_rate for "learning_rate", or the
/// key with that flag.
std::vector<std::string> keys_ending_in(const std::string& name) {
  std::vector<std::string> keys;
  for (const config::Field& field : config::fields()) {
    if (field.flag == "--" + name) return {field.path};
    if (field.path.ends_with("." + name)) keys.push_back(field.path);
  }
  return keys;
}

[[noreturn]] void fail_unknown(const std::string& name, std::span<const RunEntry> entries) {
  if (const auto near = nearest_word(name, full_names(entries))) {
    fail(fmt::format("{}: no run has that; did you mean {}?", in_quotes(name), in_quotes(*near)));
  }
  const std::set<std::string> metrics = metric_names(entries);
  fail(fmt::format(
      "{}: expected {}, a configuration key, or a metric: {}", in_quotes(name),
      fmt::join(kFieldNames, ", "),
      metrics.empty() ? "no run has one" : fmt::format("{}", fmt::join(metrics, ", "))));
}

std::optional<Value> field_value(const RunEntry& entry, const std::string& name) {
  if (name == "name") return entry.name;
  if (name == "kind") return to_text(entry.kind);
  if (name == "state") return to_text(entry.state);
  if (name == "tag") return entry.tag;
  if (name == "note") return entry.note;
  if (name == "started") return entry.started;
  if (name == "time") return entry.seconds;
  if (name == "epochs") return static_cast<double>(entry.epochs);
  if (!entry.best) return std::nullopt;
  return *entry.best;
}

}  // namespace

std::vector<std::string> full_names(std::span<const RunEntry> entries) {
  std::vector<std::string> names = kFieldNames;
  const std::set<std::string> metrics = metric_names(entries);
  names.insert(names.end(), metrics.begin(), metrics.end());
  for (const config::Field& field : config::fields()) names.push_back(field.path);
  return names;
}

std::string full_name(std::string_view name, std::span<const RunEntry> entries) {
  std::string full(name);
  if (full.starts_with("validation.")) full = "val." + full.substr(full.find('.') + 1);
  if (is_field(full) || config::find_field(full) != nullptr) return full;
  const std::set<std::string> metrics = metric_names(entries);
  if (metrics.contains(full) || (entries.empty() && is_metric(full))) return full;
  const std::vector<std::string> keys = keys_ending_in(full);
  if (keys.size() == 1) return keys.front();
  if (keys.size() > 1) {
    fail(fmt::format("{}: several keys end like that; name one of {}", in_quotes(name),
                     joined(keys, " or ")));
  }
  fail_unknown(full, entries);
}

std::optional<Value> value_of(const RunEntry& entry, const std::string& full_name) {
  if (is_field(full_name)) return field_value(entry, full_name);
  if (is_metric(full_name)) return metrics::find_score(entry.metrics, full_name);
  if (!entry.problem.empty()) return std::nullopt;
  return to_value(setting(entry, full_name));
}

std::string shown_value(const RunEntry& entry, const std::string& full_name) {
  if (full_name == "time") return entry.seconds > 0 ? human_duration(entry.seconds) : "-";
  if (full_name == "epochs") {
    const char* what = entry.kind == Kind::kRun ? "" : " runs";
    return fmt::format("{}/{}{}", entry.epochs, entry.planned_epochs, what);
  }
  if (full_name == "started") return entry.started.empty() ? "-" : entry.started.substr(0, 16);
  const std::optional<Value> value = value_of(entry, full_name);
  if (!value) return "-";
  const std::string metric = full_name == "best" ? entry.best_metric : full_name;
  if (is_metric(metric)) {
    const std::string score = metrics::score_text({score_name(metric), std::get<double>(*value)});
    return full_name == "best" ? fmt::format("{} {}", metric, score) : score;
  }
  const std::string text = text_of(*value);
  return text.empty() ? "-" : text;
}

std::vector<RunEntry> filtered(std::vector<RunEntry> entries, const std::string& expression) {
  const auto to_limit = [](const std::string& name, const std::string& text) -> Value {
    if (name != "time") return to_value(text);
    if (const auto seconds = parse_duration(text)) return *seconds;
    fail(fmt::format("time: expected a time such as 90s, 10m or 2h, got {}", in_quotes(text)));
  };
  const Condition is_wanted = parse_condition(
      expression, {.origin = "--filter",
                   .full_name = [&](std::string_view name) { return full_name(name, entries); },
                   .limit = to_limit});
  std::erase_if(entries, [&](const RunEntry& entry) {
    return !is_wanted([&](const std::string& name) { return value_of(entry, name); });
  });
  return entries;
}

namespace {

// Values of different metrics cannot be compared.
void require_one_metric(const std::vector<RunEntry>& entries) {
  std::set<std::string> names;
  for (const RunEntry& entry : entries) {
    if (entry.best) names.insert(entry.best_metric);
  }
  if (names.size() < 2) return;
  fail(fmt::format("best: the runs have different metrics; name one of {}",
                   joined(std::vector(names.begin(), names.end()), " or ")));
}

}  // namespace

void sort_entries(std::vector<RunEntry>& entries, const std::string& name) {
  const bool is_reversed = name.starts_with('-');
  const std::string full = full_name(std::string_view(name).substr(is_reversed ? 1 : 0), entries);
  if (full == "best") require_one_metric(entries);
  const auto larger_first = [&](const RunEntry& entry) {
    const std::string& metric = full == "best" ? entry.best_metric : full;
    return (is_metric(metric) && is_better_when_larger(metric)) != is_reversed;
  };
  std::stable_sort(entries.begin(), entries.end(), [&](const RunEntry& a, const RunEntry& b) {
    const std::optional<Value> x = value_of(a, full);
    const std::optional<Value> y = value_of(b, full);
    if (!x || !y) return x.has_value() && !y.has_value();
    return larger_first(a) ? is_less(*y, *x) : is_less(*x, *y);
  });
}

}  // namespace trainer::tracking
