// SPDX-License-Identifier: Apache-2.0
#include "trainer/run/folder/history.h"

#include <functional>

#include "trainer/base/io/atomic_file.h"
#include "trainer/base/text/json.h"
#include "trainer/run/folder/run_dir.h"
#include "trainer/run/folder/system_info.h"

namespace trainer::run {
namespace {

EpochSummary summary_of(const JsonReader& record) {
  EpochSummary summary{.loss = record.number("loss"), .accuracy = record.number("accuracy")};
  for (const auto& [name, value] : record.entries()) {
    if (metrics::is_score(name) && value.is_number()) {
      summary.scores.push_back({name, value.number()});
    }
  }
  return summary;
}

void add_record(const JsonReader& record, History& history) {
  const std::optional<double> seconds = record.number("time_seconds");
  if (!seconds) return;  // a record within an epoch
  const std::string split = record.text("split");
  const int64_t epoch = record.integer("epoch");
  if (split == "train") {
    EpochRecord& added = history.epochs.emplace_back();
    added.epoch = epoch;
    added.step = record.integer("step");
    added.train = summary_of(record);
    added.time_seconds = *seconds;
  } else if (split == "test") {
    history.test = summary_of(record);
  } else if (!history.epochs.empty() && history.epochs.back().epoch == epoch) {
    history.epochs.back().validation = summary_of(record);
  }
}

Start read_start(const JsonReader& json) {
  const JsonReader end = json["end"];
  return {.time = json.text("time"),
          .device = json.text("device"),
          .end = from_text<End>(end.text("result")).value_or(End::kNone),
          .reason = end.text("reason")};
}

}  // namespace

std::vector<Start> read_starts(const std::filesystem::path& root) {
  std::vector<Start> starts;
  for (const JsonReader& start : JsonReader::of_file(RunDir{root}.system())["starts"].elements()) {
    starts.push_back(read_start(start));
  }
  return starts;
}

History read_records(const std::filesystem::path& root) {
  History history;
  read_json_lines(
      RunDir{root}.metrics(), [&](const JsonReader& record) { add_record(record, history); },
      "\"time_seconds\"");
  return history;
}

History read_history(const std::filesystem::path& root) {
  History history = read_records(root);
  history.starts = read_starts(root);
  return history;
}

namespace {

// Changes the entry of the last start in system.json.
void change_last_start(const std::filesystem::path& root,
                       const std::function<void(Json& start)>& change) {
  const std::filesystem::path path = RunDir{root}.system();
  const JsonReader before = JsonReader::of_file(path);
  if (before["starts"].elements().empty()) return;  // the file was changed by someone else
  before["starts"].elements().back().entries();     // throws if it is not an object
  Json system = before.json();
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
