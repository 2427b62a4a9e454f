// SPDX-License-Identifier: Apache-2.0
#include "trainer/run/checkpoint/store.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "trainer/base/error.h"
#include "trainer/base/io/atomic_file.h"
#include "trainer/base/io/read_text.h"
#include "trainer/base/text/parse.h"
#include "trainer/run/folder/superseded.h"

namespace trainer::checkpoint {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kEpochPrefix = "checkpoint_epoch_";
constexpr std::string_view kStepPrefix = "checkpoint_step_";

using Files = std::map<int64_t, fs::path, std::greater<>>;  // by epoch or step, newest first

// Returns the number in a name, such as 5 in "checkpoint_epoch_005.pt"; nothing for other names.
std::optional<int64_t> number_in(const fs::path& path, std::string_view prefix) {
  const std::string stem = path.stem().string();
  if (path.extension() != ".pt" || !stem.starts_with(prefix)) return std::nullopt;
  return parse_int(stem.substr(prefix.size()));
}

Files list_files(const fs::path& folder, std::string_view prefix) {
  Files files;
  std::error_code ignored;  // a folder that cannot be read has no files
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    if (const auto number = number_in(entry.path(), prefix)) files[*number] = entry.path();
  }
  return files;
}

// Removes all files except the newest `to_keep`. Files with a number above `newest` are from steps
// that a resume from an earlier checkpoint discarded.
void keep_newest(const Files& files, int64_t newest, int64_t to_keep) {
  for (const auto& [number, file] : files) {
    if (number <= newest && to_keep-- > 0) continue;
    crash_point();
    std::error_code ignored;  // a file that cannot be removed does no harm
    fs::remove(file, ignored);
  }
}

// Returns the checkpoint in `file` if it is readable and is that of the best epoch `wanted`, with
// the same value of the metric.
std::optional<Checkpoint> read_if_best(const fs::path& file, const Best& wanted) {
  if (!fs::exists(file)) return std::nullopt;
  try {
    Checkpoint checkpoint = read(file);
    const bool is_wanted = checkpoint.state.position.epoch == wanted.epoch &&
                           checkpoint.state.position.samples_in_epoch == 0 &&
                           checkpoint.state.best && checkpoint.state.best->epoch == wanted.epoch &&
                           checkpoint.state.best->value == wanted.value;
    if (is_wanted) return checkpoint;
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::kCheckpoint) throw;
  }
  return std::nullopt;
}

}  // namespace

Store::Store(fs::path folder, int64_t keep_last)
    : folder_(std::move(folder)), keep_last_(keep_last) {}

void Store::save(const Checkpoint& checkpoint, SaveReason reason, IsBest is_best) const {
  const fs::path file = file_path(checkpoint, reason);
  write(file, checkpoint);
  publish_file(file, last());
  // best.pt is written after last.pt: if the process is killed in between, last.pt is itself the
  // checkpoint of the best epoch.
  if (is_best == IsBest::kYes) publish_file(file, best());
  if (reason != SaveReason::kOther) prune(checkpoint.state.position);
}

bool Store::rewind(const Checkpoint& checkpoint, const fs::path& file) const {
  // Resolves links such as runs/latest.
  const bool is_here = fs::weakly_canonical(file).parent_path() == fs::weakly_canonical(folder_);
  if (is_here) publish_file(file, last());
  const bool found = !checkpoint.state.best || recover_best(*checkpoint.state.best, file);
  if (is_here) prune(checkpoint.state.position);
  return found;
}

bool Store::recover_best(const Best& wanted, const fs::path& resumed) const {
  for (const fs::path& file : {best(), resumed, newest_epoch(wanted.epoch)}) {
    if (!read_if_best(file, wanted)) continue;
    publish_file(file, best());
    return true;
  }
  return false;
}

std::optional<Checkpoint> Store::read_best(const Best& wanted) const {
  for (const fs::path& file : {best(), newest_epoch(wanted.epoch)}) {
    if (auto checkpoint = read_if_best(file, wanted)) return checkpoint;
  }
  return std::nullopt;
}

fs::path Store::newest_epoch(int64_t epoch) const {
  const Files files = list_files(folder_, kEpochPrefix);
  const auto found = files.lower_bound(epoch);  // the largest epoch that is not above `epoch`
  return found == files.end() ? fs::path() : found->second;
}

fs::path Store::file_path(const Checkpoint& checkpoint, SaveReason reason) const {
  switch (reason) {
    case SaveReason::kEpoch:
      return folder_ / fmt::format("{}{:03}.pt", kEpochPrefix, checkpoint.state.position.epoch);
    case SaveReason::kStep:
      return folder_ / fmt::format("{}{:08}.pt", kStepPrefix, checkpoint.state.position.step);
    case SaveReason::kOther:
      break;
  }
  return last();
}

void Store::prune(const Position& newest) const {
  keep_newest(list_files(folder_, kEpochPrefix), newest.epoch, keep_last_);
  // The checkpoint at the end of an epoch replaces those of the steps in it.
  const int64_t steps_to_keep = newest.samples_in_epoch > 0 ? keep_last_ : 0;
  keep_newest(list_files(folder_, kStepPrefix), newest.step, steps_to_keep);
}

std::vector<fs::path> newest_first(const fs::path& folder) {
  std::vector<fs::path> files = {folder / "last.pt"};
  for (const std::string_view prefix : {kStepPrefix, kEpochPrefix}) {
    for (const auto& [number, file] : list_files(folder, prefix)) files.push_back(file);
  }
  files.push_back(folder / "best.pt");
  std::erase_if(files, [](const fs::path& file) { return !fs::is_regular_file(file); });
  return files;
}

namespace {

[[noreturn]] void refuse(const fs::path& path, const std::error_code& why) {
  throw Error(ErrorKind::kFileSystem,
              fmt::format("cannot write {}: {}", path.string(), why.message()));
}

// A file that cannot be read does not count as a checkpoint.
bool is_later(const fs::path& file, const Position& than) {
  try {
    const Position position = read(file).state.position;
    return std::tie(position.epoch, position.step) > std::tie(than.epoch, than.step);
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::kCheckpoint) throw;
    return false;
  }
}

bool is_same_file(const fs::path& a, const fs::path& b) {
  std::error_code ignored;
  return fs::equivalent(a, b, ignored);
}

// Returns the content of a file after the first `num_bytes`; empty if it cannot be read.
std::string rest_of(const fs::path& path, uint64_t num_bytes) {
  const std::string text = read_text(path).value_or("");
  return text.substr(std::min<std::size_t>(num_bytes, text.size()));
}

/// The records, checkpoints and results of a run that are later than a checkpoint.
struct Later {
  std::string records;
  std::vector<fs::path> checkpoints;
  std::vector<fs::path> results;

  bool is_empty() const { return records.empty() && checkpoints.empty() && results.empty(); }
};

Later find_later(const run::RunDir& run, const Checkpoint& from, const fs::path& file,
                 Course course) {
  Later later;
  const fs::path last = run.checkpoints() / "last.pt";
  // A crash while a checkpoint gets its names can leave a file that is later than last.pt. It is
  // not kept if the run resumes from last.pt.
  if (!is_same_file(file, last)) {
    for (const fs::path& other : newest_first(run.checkpoints())) {
      if (is_later(other, from.state.position)) later.checkpoints.push_back(other);
    }
  }
  for (const fs::path& result : {run.summary(), run.report()}) {
    if (fs::exists(run.summary()) && fs::exists(result)) later.results.push_back(result);
  }
  if (course == Course::kOther || !later.checkpoints.empty() || !later.results.empty()) {
    later.records = rest_of(run.metrics(), from.metrics_bytes);
  }
  return later;
}

// Removes from `later` what an earlier attempt has kept before a crash.
void leave_out_kept(const run::Superseded& before, Later& later) {
  const auto is_kept = [](const fs::path& folder) {
    return [folder](const fs::path& file) { return is_same_file(file, folder / file.filename()); };
  };
  std::erase_if(later.checkpoints, is_kept(before.files().checkpoints()));
  std::erase_if(later.results, is_kept(before.folder));
  if (later.records == rest_of(before.files().metrics(), 0)) later.records.clear();
}

/// A folder that is removed at the end of the scope, unless it has been renamed by then.
struct Unfinished {
  explicit Unfinished(fs::path path) : folder(std::move(path)) {}
  ~Unfinished() {
    std::error_code ignored;
    fs::remove_all(folder, ignored);
  }
  Unfinished(const Unfinished&) = delete;
  Unfinished& operator=(const Unfinished&) = delete;

  fs::path folder;
};

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) refuse(folder, error);
}

void fill(const run::RunDir& folder, const Later& later) {
  make_folder(folder.checkpoints());
  if (!later.records.empty()) write_file_atomically(folder.metrics(), later.records);
  for (const fs::path& file : later.checkpoints) {
    publish_file(file, folder.checkpoints() / file.filename());
  }
  for (const fs::path& file : later.results) publish_file(file, folder.root / file.filename());
  sync_folder(folder.checkpoints());
  sync_folder(folder.root);
}

}  // namespace

std::optional<fs::path> keep_superseded(const run::RunDir& run, const Checkpoint& from,
                                        const fs::path& file, Course course) {
  const fs::path all = run::superseded_folder(run);
  // A folder with this name may be left over from a crash.
  const fs::path unfinished = all / ".tmp-new";
  std::error_code error;
  fs::remove_all(unfinished, error);
  if (error) refuse(unfinished, error);
  Later later = find_later(run, from, file, course);
  const std::vector<run::Superseded> before = run::list_superseded(run);
  if (!before.empty()) leave_out_kept(before.back(), later);
  if (later.is_empty()) return std::nullopt;
  const Unfinished removed_if_it_fails(unfinished);
  fill({unfinished}, later);
  const int64_t newest =
      before.empty() ? 0 : parse_int(before.back().folder.filename().string()).value_or(0);
  fs::path folder = all / fmt::to_string(newest + 1);
  error = rename_durably(unfinished, folder);
  if (error) refuse(folder, error);
  sync_folder(run.root);
  return folder;
}

}  // namespace trainer::checkpoint
