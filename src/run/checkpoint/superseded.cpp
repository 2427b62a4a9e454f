// SPDX-License-Identifier: Apache-2.0
#include "trainer/run/checkpoint/superseded.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "trainer/base/error.h"
#include "trainer/base/io/atomic_file.h"
#include "trainer/base/io/read_text.h"
#include "trainer/base/text/parse.h"
#include "trainer/run/checkpoint/store.h"
#include "trainer/run/folder/superseded.h"

namespace trainer::checkpoint {
namespace fs = std::filesystem;
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
