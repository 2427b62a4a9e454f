// SPDX-License-Identifier: Apache-2.0
// Reading a thousand run folders takes seconds. So entries are cached in a file beside the folders,
// with the sizes and modification times of the files that they were read from; an entry whose files
// have changed is read again. Locks are checked each time, because no file says whether a process
// still works on a run.
#include "trainer/run/tracking/run_entry.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "trainer/base/error.h"
#include "trainer/base/io/atomic_file.h"
#include "trainer/base/io/folder_lock.h"
#include "trainer/base/io/read_text.h"
#include "trainer/base/text/json.h"
#include "trainer/base/text/parse.h"
#include "trainer/base/version.h"
#include "trainer/config/fields.h"
#include "trainer/config/load.h"
#include "trainer/run/folder/history.h"
#include "trainer/run/folder/run_dir.h"

#include "run/tracking/run_document.h"

namespace trainer::tracking {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kMaxRuns = 1'000'000;  // of a series

// Keys that tell the runs of a series apart, and folders. They are not shown as settings.
constexpr std::array kPlaces = {"output_dir", "tag", "data.fold", "data.validation_fold"};

// Returns whether the value only follows from "auto" in a run without other processes.
bool is_usual(const config::Field& field, const config::Config& config) {
  return field.path == "distributed.shards" && config.distributed.shards == 1;
}

void add_scores(const char* split, const std::vector<metrics::Score>& scores, RunEntry& entry) {
  for (const metrics::Score& score : scores) {
    entry.metrics.push_back({fmt::format("{}.{}", split, score.name), score.value});
  }
}

void add_scores(const char* split, const JsonReader& scores, RunEntry& entry) {
  for (const auto& [name, value] : scores.entries()) {
    if (name == "rows" || !value.is_number()) continue;
    entry.metrics.push_back({fmt::format("{}.{}", split, name), value.number()});
  }
}

/// Returns the defaults if the configuration cannot be read, and sets entry.problem.
config::Config read_config(const fs::path& root, RunEntry& entry) {
  config::Config config;
  try {
    config = config::load({config::read_document(run::RunDir{root}.config())}, {}).config;
  } catch (const Error& e) {
    const std::string_view text = e.what();
    entry.problem = text.substr(0, text.find('\n'));
    return config;
  }
  const config::Config defaults;
  for (const config::Field& field : config::fields()) {
    if (std::find(kPlaces.begin(), kPlaces.end(), field.path) != kPlaces.end()) continue;
    if (is_usual(field, config)) continue;
    std::string value = config::value_text(field, config);
    if (value != config::value_text(field, defaults)) entry.settings[field.path] = std::move(value);
  }
  return config;
}

State state_of(const fs::path& folder, bool is_complete, const std::vector<run::Start>& starts) {
  if (is_locked(folder)) return State::kRunning;
  if (is_complete) return State::kComplete;
  if (starts.empty()) return State::kKilled;
  switch (starts.back().end) {
    case run::End::kComplete:
      return State::kComplete;
    case run::End::kStopped:
      return State::kStopped;
    case run::End::kFailed:
      return State::kFailed;
    case run::End::kNone:
      break;
  }
  return State::kKilled;
}

/// Returns the epoch with the best value of `metric`, or the last epoch if none has a value.
const run::EpochRecord& best_epoch(const run::History& history, const std::string& metric) {
  const run::EpochRecord* best = nullptr;
  std::optional<double> best_value;
  for (const run::EpochRecord& epoch : history.epochs) {
    const std::optional<double> value =
        metrics::find_score(epoch.validation_or_train().scores, metric);
    if (!value) continue;
    if (!best_value ||
        (is_better_when_larger(metric) ? *value > *best_value : *value < *best_value)) {
      best = &epoch;
      best_value = value;
    }
  }
  return best == nullptr ? history.epochs.back() : *best;
}

void add_metrics(const JsonReader& summary, const run::History& history, const std::string& metric,
                 RunEntry& entry) {
  if (history.epochs.empty()) return;
  const run::EpochRecord* epoch = &best_epoch(history, metric);
  const JsonReader best = summary["best"];
  for (const run::EpochRecord& record : history.epochs) {
    if (best.has("epoch") && record.epoch == best.integer("epoch")) epoch = &record;
  }
  add_scores("train", epoch->train.scores, entry);
  if (summary.has("validation")) {
    add_scores("val", summary["validation"], entry);
  } else if (epoch->validation) {
    add_scores("val", epoch->validation->scores, entry);
  }
  add_scores("test", summary["test"], entry);
  entry.best_metric = fmt::format("{}.{}", epoch->validation ? "val" : "train", metric);
  const std::optional<double> value = best.number("value");
  // Some metrics, such as the calibrated log loss, are only computed to choose the best epoch.
  if (value && best.text("metric") == metric &&
      !metrics::find_score(entry.metrics, entry.best_metric)) {
    entry.metrics.push_back({entry.best_metric, *value});
  }
  entry.best = metrics::find_score(entry.metrics, entry.best_metric);
}

void read_run(const fs::path& folder, RunEntry& entry) {
  const config::Config config = read_config(folder, entry);
  entry.planned_epochs = config.training.epochs;
  entry.tag = config.tag;
  const JsonReader summary = JsonReader::of_file(run::RunDir{folder}.summary());
  const run::History history = run::read_history(folder);
  entry.state = state_of(folder, !summary.is_null(), history.starts);
  if (!history.starts.empty()) {
    entry.started = history.starts.front().time;
    entry.reason = history.starts.back().reason;
  }
  for (const run::EpochRecord& epoch : history.epochs) entry.seconds += epoch.time_seconds;
  if (!history.epochs.empty()) entry.epochs = history.epochs.back().epoch;
  add_metrics(summary, history, config::to_text(config.training.best_metric), entry);
}

/// Returns the run folders in the folder of a series, sorted by name.
std::vector<fs::path> runs_in(const fs::path& folder) {
  std::vector<fs::path> runs;
  std::error_code ignored;
  for (const auto& item : fs::directory_iterator(folder, ignored)) {
    if (!item.is_symlink(ignored) && fs::exists(run::RunDir{item.path()}.config(), ignored)) {
      runs.push_back(item.path());
    }
  }
  std::sort(runs.begin(), runs.end());
  return runs;
}

/// Returns the number of repeats in a tag such as "digits_fold_1_repeat_1_of_3"; 1 if it has none.
int64_t repeats_in(const std::string& tag) {
  constexpr std::string_view kOf = "_of_";
  const std::size_t repeat = tag.rfind("_repeat_");
  const std::size_t of = tag.rfind(kOf);
  if (repeat == std::string::npos || of == std::string::npos || of < repeat) return 1;
  return parse_int(std::string_view(tag).substr(of + kOf.size())).value_or(1);
}

/// Adds the settings that the runs of a series share, and how many there are and how they ended.
void add_runs(const fs::path& folder, RunEntry& entry) {
  const std::vector<fs::path> runs = runs_in(folder);
  if (runs.empty()) return;
  const config::Config config = read_config(runs.front(), entry);
  entry.best_metric = config::to_text(config.training.best_metric);
  entry.planned_epochs = entry.kind == Kind::kCrossValidation
                             ? config.data.folds * std::min(repeats_in(config.tag), kMaxRuns)
                             : config.data.validation_folds;
  for (const fs::path& root : runs) {
    const run::History history = run::read_history(root);
    for (const run::EpochRecord& epoch : history.epochs) entry.seconds += epoch.time_seconds;
    if (history.starts.empty()) continue;
    if (entry.started.empty()) entry.started = history.starts.front().time;
    const bool is_complete = fs::exists(run::RunDir{root}.summary());
    entry.state = state_of(root, is_complete, history.starts);
    entry.reason = history.starts.back().reason;
  }
}

/// Returns the tag in the name of a series: "digits" in "20261125_042130_digits_cv".
std::string tag_of_series(const std::string& name) {
  constexpr std::size_t kTime = std::string_view("YYYYMMDD_HHMMSS_").size();
  const std::size_t end = name.rfind('_');
  return end == std::string::npos || end < kTime ? "" : name.substr(kTime, end - kTime);
}

/// Returns the test metric that corresponds to the one by which the runs chose their best epoch.
/// Models with a calibrated log loss are calibrated, so that is the log loss.
std::string test_metric(const std::string& best_metric) {
  return best_metric == "calibrated_log_loss" ? "test.log_loss" : "test." + best_metric;
}

void read_series(const fs::path& folder, Kind kind, RunEntry& entry) {
  entry.tag = tag_of_series(folder.filename().string());
  add_runs(folder, entry);
  const std::string metric = test_metric(std::exchange(entry.best_metric, ""));
  if (kind == Kind::kCrossValidation) {
    const JsonReader cv = JsonReader::of_file(folder / run::kCrossValidationFile);
    if (!cv.is_null()) {
      entry.planned_epochs =
          cv.integer("folds", 0, 0, kMaxRuns) * cv.integer("repeats", 1, 0, kMaxRuns);
    }
    entry.epochs = std::ssize(cv["runs"].elements());
    add_scores("test", cv["mean"], entry);
  } else {
    const JsonReader members = JsonReader::of_file(folder / run::kEnsembleFile);
    if (!members.is_null()) entry.planned_epochs = members.integer("members");
    entry.epochs = std::ssize(members["runs"].elements());
    add_scores("test", JsonReader::of_file(run::RunDir{folder}.summary())["test"], entry);
  }
  if (metrics::find_score(entry.metrics, metric)) {
    entry.best_metric = metric;
    entry.best = metrics::find_score(entry.metrics, metric);
  }
  if (is_locked(folder)) {
    entry.state = State::kRunning;
  } else if (entry.planned_epochs > 0 && entry.epochs >= entry.planned_epochs) {
    entry.state = State::kComplete;
    entry.reason = "";
  } else if (entry.state == State::kComplete) {
    entry.state = State::kKilled;  // killed between two of its runs
  }
}

}  // namespace

std::optional<Kind> kind_of(const fs::path& folder) {
  std::error_code ignored;
  if (fs::exists(run::RunDir{folder}.config(), ignored)) return Kind::kRun;
  const std::string name = folder.filename().string();
  const bool has_runs = !runs_in(folder).empty();
  if (fs::exists(folder / run::kEnsembleFile, ignored)) return Kind::kEnsemble;
  if (fs::exists(folder / run::kCrossValidationFile, ignored)) return Kind::kCrossValidation;
  // Before the first of its runs is complete, only the name tells what it is.
  if (has_runs && name.ends_with("_ensemble")) return Kind::kEnsemble;
  if (has_runs && name.ends_with("_cv")) return Kind::kCrossValidation;
  return std::nullopt;
}

std::optional<RunEntry> read_entry(const fs::path& folder) {
  const std::optional<Kind> kind = kind_of(folder);
  if (!kind) return std::nullopt;
  RunEntry entry;
  entry.kind = *kind;
  entry.folder = folder;
  entry.name = folder.filename().string();
  entry.note = read_note(folder);
  // A damaged file is a problem of this entry only; the other runs of the folder are still listed.
  try {
    if (*kind == Kind::kRun) {
      read_run(folder, entry);
    } else {
      read_series(folder, *kind, entry);
    }
  } catch (const Error& e) {
    if (entry.problem.empty()) entry.problem = e.what();
  }
  return entry;
}

std::string setting(const RunEntry& entry, const std::string& key) {
  if (key == "tag") return entry.tag;
  const auto found = entry.settings.find(key);
  return found == entry.settings.end() ? config::value_text(key, config::Config{}) : found->second;
}

std::string score_name(const std::string& metric) { return metric.substr(metric.find('.') + 1); }

bool is_better_when_larger(const std::string& metric) {
  const std::string name = score_name(metric);
  if (const auto known = from_text<config::BestMetric>(name)) {
    return config::is_better_when_larger(*known);
  }
  return name != "brier" && name != "ece";
}

}  // namespace trainer::tracking

namespace trainer {

template <>
std::span<const std::string> enum_names<tracking::Kind>() {
  static const std::vector<std::string> names = {"run", "cv", "ensemble"};
  return names;
}

template <>
std::span<const std::string> enum_names<tracking::State>() {
  static const std::vector<std::string> names = {"running", "complete", "stopped", "failed",
                                                 "killed"};
  return names;
}

}  // namespace trainer

namespace trainer::tracking {
namespace {

/// Returns the sizes and times of the files that an entry depends on. A new run folder changes the
/// time of the folder of its series.
std::string stamp_of(const fs::path& folder) {
  std::string stamp;
  const auto add = [&](const fs::path& path) {
    struct stat status {};
    if (stat(path.c_str(), &status) != 0) {
      stamp += "- ";
      return;
    }
#ifdef __APPLE__
    const timespec& changed = status.st_mtimespec;
#else
    const timespec& changed = status.st_mtim;
#endif
    stamp += fmt::format("{}.{}:{} ", changed.tv_sec, changed.tv_nsec, status.st_size);
  };
  const run::RunDir run{folder};
  for (const fs::path& path :
       {folder, run.config(), run.system(), run.metrics(), run.summary(), run.note(),
        folder / run::kCrossValidationFile, folder / run::kEnsembleFile}) {
    add(path);
  }
  return stamp;
}

/// The cache of one folder of runs.
class Index {
 public:
  explicit Index(fs::path file) : file_(std::move(file)) {
    try {
      const JsonReader json = JsonReader::of_file(file_);
      if (json.text("program") != program()) return;
      for (const auto& [name, row] : json["runs"].entries()) old_.emplace(name, row);
    } catch (const Error&) {
      old_.clear();  // not written by this program; it is made anew
    }
  }

  std::optional<RunEntry> find(const fs::path& folder, const std::string& stamp) const {
    const auto found = old_.find(folder.filename().string());
    if (found == old_.end()) return std::nullopt;
    try {
      if (found->second.text("stamp") != stamp) return std::nullopt;
      return from_json(found->second, folder);
    } catch (const Error&) {
      return std::nullopt;  // not written by this program
    }
  }

  /// Puts the entry into the new cache. `is_new` means that it was not found in the old one.
  void keep(const RunEntry& entry, const std::string& stamp, bool is_new) {
    if (is_new) {
      Json row = to_json(entry);
      row["stamp"] = stamp;
      new_.emplace(entry.name, JsonReader(std::move(row)));
      has_changed_ = true;
    } else {
      new_.emplace(entry.name, old_.at(entry.name));
    }
  }

  /// Writes the cache if it has changed. If the folder cannot be written, there is no cache.
  void save() {
    if (!has_changed_ && new_.size() == old_.size()) return;
    Json runs = Json::object();
    for (const auto& [name, row] : new_) runs.push_back({name, row.json()});
    try {
      write_file_atomically(file_, Json{{"program", program()}, {"runs", std::move(runs)}}.dump(
                                       -1, ' ', false, Json::error_handler_t::replace));
    } catch (const Error&) {
      return;  // the entries are read again next time
    }
  }

 private:
  static std::string program() {
    return fmt::format("{} {}", build_info().version, build_info().git_commit);
  }

  fs::path file_;
  std::map<std::string, JsonReader> old_;
  std::map<std::string, JsonReader> new_;
  bool has_changed_ = false;
};

/// Orders entries by their start, the newest first.
bool is_newer(const RunEntry& a, const RunEntry& b) {
  if (a.started != b.started) return a.started > b.started;
  return a.name > b.name;
}

}  // namespace

std::vector<RunEntry> read_entries(const fs::path& parent) {
  Index index(parent / kIndexFile);
  std::vector<RunEntry> entries;
  std::error_code ignored;
  for (const auto& item : fs::directory_iterator(parent, ignored)) {
    if (item.is_symlink(ignored) || !item.is_directory(ignored)) continue;
    const fs::path& folder = item.path();
    if (folder.filename().string().starts_with('.')) continue;
    const std::string stamp = stamp_of(folder);
    std::optional<RunEntry> entry = is_locked(folder) ? std::nullopt : index.find(folder, stamp);
    const bool is_new = !entry;
    if (is_new) entry = read_entry(folder);
    if (!entry) continue;
    if (entry->state != State::kRunning) index.keep(*entry, stamp, is_new);
    entries.push_back(std::move(*entry));
  }
  index.save();
  std::sort(entries.begin(), entries.end(), is_newer);
  return entries;
}

std::string read_note(const std::filesystem::path& folder) {
  std::string text = read_text(run::RunDir{folder}.note()).value_or("");
  text.resize(text.find_last_not_of(" \t\r\n") + 1);
  return text;
}

void write_note(const std::filesystem::path& folder, const std::string& text) {
  if (!text.empty()) return write_file_atomically(run::RunDir{folder}.note(), text + "\n");
  std::error_code error;
  std::filesystem::remove(run::RunDir{folder}.note(), error);
  if (!error) return;
  throw Error(
      ErrorKind::kFileSystem,
      fmt::format("cannot remove {}: {}", run::RunDir{folder}.note().string(), error.message()));
}

}  // namespace trainer::tracking
