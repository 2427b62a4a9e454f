// SPDX-License-Identifier: Apache-2.0
#include "trainer/run/history.h"

#include <fstream>
#include <functional>

#include "trainer/core/atomic_file.h"
#include "trainer/core/json.h"
#include "trainer/run/run_dir.h"
#include "trainer/run/system_info.h"

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

EpochSummary summary_of(const Json& record) {
  EpochSummary summary{.loss = number(record, "loss"), .accuracy = number(record, "accuracy")};
  for (const auto& [name, value] : record.items()) {
    if (metrics::is_score(name) && value.is_number()) {
      summary.scores.push_back({name, value.get<double>()});
    }
  }
  return summary;
}

void add_record(const Json& record, History& history) {
  const std::optional<double> seconds = number(record, "time_seconds");
  if (!seconds) return;  // within an epoch
  const std::string split = text(record, "split");
  const auto epoch = static_cast<int64_t>(number(record, "epoch").value_or(0));
  if (split == "train") {
    EpochRecord& added = history.epochs.emplace_back();
    added.epoch = epoch;
    added.step = static_cast<int64_t>(number(record, "step").value_or(0));
    added.train = summary_of(record);
    added.time_seconds = *seconds;
  } else if (split == "test") {
    history.test = summary_of(record);
  } else if (!history.epochs.empty() && history.epochs.back().epoch == epoch) {
    history.epochs.back().validation = summary_of(record);
  }
}

Start read_start(const Json& json) {
  Start start{.time = text(json, "time"), .device = text(json, "device")};
  if (const auto end = json.find("end"); end != json.end() && end->is_object()) {
    start.end = from_text<End>(text(*end, "result")).value_or(End::kNone);
    start.reason = text(*end, "reason");
  }
  return start;
}

bool has_starts(const Json& system) {
  return system.is_object() && system.contains("starts") && system["starts"].is_array();
}

}  // namespace

History read_history(const std::filesystem::path& root) {
  History history;
  std::ifstream metrics(RunDir{root}.metrics());
  for (std::string line; std::getline(metrics, line);) {
    if (line.find("\"time_seconds\"") == std::string::npos) continue;  // before it is parsed
    const Json record = parse_json_or_null(line);
    if (record.is_object()) add_record(record, history);
  }
  const Json system = read_json_or_null(RunDir{root}.system());
  if (!has_starts(system)) return history;
  for (const Json& start : system["starts"]) {
    if (start.is_object()) history.starts.push_back(read_start(start));
  }
  return history;
}

namespace {

// Changes the entry of the last start.
void change_last_start(const std::filesystem::path& root,
                       const std::function<void(Json& start)>& change) {
  const std::filesystem::path path = RunDir{root}.system();
  Json system = read_json_or_null(path);
  if (!has_starts(system) || system["starts"].empty() || !system["starts"].back().is_object()) {
    return;  // somebody else changed it
  }
  change(system["starts"].back());
  write_file_atomically(path, system.dump(2) + "\n");
}

}  // namespace

void write_end(const std::filesystem::path& root, End end, const std::string& reason) {
  change_last_start(root, [&](Json& start) {
    start["end"] = {{"time", timestamp()}, {"result", to_text(end)}};
    if (!reason.empty()) start["end"]["reason"] = reason;
  });
}

void write_threads(const std::filesystem::path& root, int64_t step, int64_t num_threads) {
  change_last_start(root, [&](Json& start) {
    start["thread_changes"].push_back(
        {{"time", timestamp()}, {"step", step}, {"threads", num_threads}});
  });
}

}  // namespace trainer::run

template <>
std::span<const std::string> trainer::enum_names<trainer::run::End>() {
  static const std::vector<std::string> names = {"none", "complete", "stopped", "failed"};
  return names;
}
