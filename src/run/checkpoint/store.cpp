// SPDX-License-Identifier: Apache-2.0
#include "trainer/run/checkpoint/store.h"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "trainer/base/error.h"
#include "trainer/base/io/atomic_file.h"
#include "trainer/base/io/crash_point.h"
#include "trainer/base/text/parse.h"

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

}  // namespace trainer::checkpoint
