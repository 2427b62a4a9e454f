// SPDX-License-Identifier: Apache-2.0
#include "trainer/run/history.h"

#include <fstream>

#include "trainer/core/json.h"
#include "trainer/run/run_dir.h"

namespace trainer::run {
namespace {

std::optional<double> number(const Json& record, const char* name) {
  const auto found = record.find(name);
  if (found == record.end() || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

std::string text(const Json& record, const char* name) {
  const auto found = record.find(name);
  return found == record.end() || !found->is_string() ? "" : found->get<std::string>();
}

void add_record(const Json& record, History& history) {
  const std::optional<double> seconds = number(record, "time_seconds");
  if (!seconds) return;  // within an epoch
  const EpochSummary score{.loss = number(record, "loss"), .accuracy = number(record, "accuracy")};
  const std::string split = text(record, "split");
  const auto epoch = static_cast<int64_t>(number(record, "epoch").value_or(0));
  if (split == "train") {
    EpochRecord& added = history.epochs.emplace_back();
    added.epoch = epoch;
    added.step = static_cast<int64_t>(number(record, "step").value_or(0));
    added.train = score;
    added.time_seconds = *seconds;
  } else if (split == "test") {
    history.test = score;
    history.all_of_test.clear();
    for (const auto& [name, value] : record.items()) {
      if (metrics::is_score(name) && value.is_number()) {
        history.all_of_test.push_back({name, value.get<double>()});
      }
    }
  } else if (!history.epochs.empty() && history.epochs.back().epoch == epoch) {
    history.epochs.back().validation = score;
  }
}

}  // namespace

History read_history(const std::filesystem::path& root) {
  History history;
  std::ifstream metrics(RunDir{root}.metrics());
  for (std::string line; std::getline(metrics, line);) {
    const Json record = parse_json_or_null(line);
    if (record.is_object()) add_record(record, history);
  }
  const Json system = read_json_or_null(RunDir{root}.system());
  if (!system.is_object() || !system.contains("starts") || !system["starts"].is_array()) {
    return history;
  }
  for (const Json& start : system["starts"]) {
    if (start.is_object()) history.starts.push_back({text(start, "time"), text(start, "device")});
  }
  return history;
}

}  // namespace trainer::run
