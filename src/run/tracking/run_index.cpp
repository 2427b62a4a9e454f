// SPDX-License-Identifier: Apache-2.0
// Reading a thousand run folders takes seconds. So entries are cached in a file beside the folders,
// with the sizes and modification times of the files that they were read from; an entry whose files
// have changed is read again. Locks are checked each time, because no file says whether a process
// still works on a run.
#include <sys/stat.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "trainer/base/error.h"
#include "trainer/base/io/atomic_file.h"
#include "trainer/base/io/folder_lock.h"
#include "trainer/base/text/json_reader.h"
#include "trainer/base/version.h"
#include "trainer/run/folder/run_dir.h"
#include "trainer/run/tracking/run_entry.h"

#include "run/tracking/run_json.h"

namespace trainer::tracking {
namespace {

namespace fs = std::filesystem;

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

}  // namespace trainer::tracking
