// SPDX-License-Identifier: Apache-2.0
#include "trainer/run/tracking/trash.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "trainer/base/error.h"
#include "trainer/base/io/atomic_file.h"
#include "trainer/base/io/folder_lock.h"
#include "trainer/base/text/format.h"
#include "trainer/run/folder/run_dir.h"
#include "trainer/run/tracking/query.h"
#include "trainer/run/tracking/run_entry.h"

#include "run/tracking/run_document.h"

namespace trainer::tracking {
namespace {

namespace fs = std::filesystem;

// A folder with this prefix is no longer a run, but is being deleted.
constexpr const char* kPurgedPrefix = ".purged_";
constexpr const char* kRemovedPrefix = ".removed_";  // used by versions without a trash
constexpr const char* kTrash = ".trash";

[[noreturn]] void fail(const char* what, const fs::path& path, const std::error_code& why) {
  throw Error(ErrorKind::kFileSystem,
              fmt::format("cannot {} {}: {}", what, path.string(), why.message()));
}

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::symlink_status(path, ignored).type() != fs::file_type::not_found;
}

fs::path free_name(const fs::path& folder, const std::string& name) {
  fs::path path = folder / name;
  for (int number = 2; is_there(path); ++number) path = folder / fmt::format("{}_{}", name, number);
  return path;
}

void point_latest_to_newest(const fs::path& parent) {
  const std::vector<RunEntry> entries = read_entries(parent);
  std::error_code ignored;
  if (entries.empty()) fs::remove(parent / "latest", ignored);
  if (!entries.empty()) run::point_latest_to({entries.front().folder});
}

void delete_left_overs(const fs::path& folder, const std::string& prefix) {
  std::error_code error;
  std::vector<fs::path> left_over;
  for (const auto& item : fs::directory_iterator(folder, error)) {
    if (item.path().filename().string().starts_with(prefix)) left_over.push_back(item.path());
  }
  for (const fs::path& path : left_over) {
    fs::remove_all(path, error);
    if (error) fail("delete", path, error);
  }
}

// Removes the trash if it contains nothing but the cache of its entries.
void remove_empty_trash(const fs::path& trash) {
  remove_temporary_files(trash, kIndexFile);
  std::error_code ignored;
  for (const auto& item : fs::directory_iterator(trash, ignored)) {
    if (item.path().filename() != kIndexFile) return;
  }
  fs::remove(trash / kIndexFile, ignored);
  fs::remove(trash, ignored);
}

void refuse_link(const fs::path& trash) {
  std::error_code ignored;
  if (!fs::is_symlink(trash, ignored)) return;
  throw Error(ErrorKind::kFileSystem,
              fmt::format("{}: expected a folder, got a link, which may lead anywhere; remove the "
                          "link",
                          trash.string()));
}

}  // namespace

fs::path trash_of(const fs::path& parent) { return parent / kTrash; }

std::vector<RunEntry> removed_entries(const fs::path& parent) {
  std::error_code ignored;
  const fs::path trash = trash_of(parent);
  return fs::is_symlink(trash, ignored) ? std::vector<RunEntry>() : read_entries(trash);
}

fs::path remove_run(const fs::path& folder) {
  const FolderLock lock(folder);
  const fs::path parent = folder.parent_path();
  const fs::path trash = trash_of(parent);
  refuse_link(trash);
  std::error_code error;
  if (fs::create_directory(trash, error)) sync_folder(parent);  // before any run is only in there
  if (error) fail("create the folder", trash, error);
  const fs::path removed = free_name(trash, folder.filename().string());
  error = rename_durably(folder, removed);
  if (error) fail("remove", folder, error);
  finish_removals(parent);
  return removed;
}

fs::path restore_run(const fs::path& removed) {
  refuse_link(removed.parent_path());
  const fs::path parent = removed.parent_path().parent_path();
  const fs::path folder = parent / removed.filename();
  if (is_there(folder)) {
    throw Error(ErrorKind::kFileSystem,
                fmt::format("cannot restore {}: there is already {}; rename or remove that first",
                            removed.string(), folder.string()));
  }
  if (const auto error = rename_durably(removed, folder)) fail("restore", removed, error);
  finish_removals(parent);
  const std::vector<RunEntry> entries = read_entries(parent);
  if (!entries.empty() && entries.front().name == folder.filename()) point_latest_to_newest(parent);
  return folder;
}

void purge_run(const fs::path& removed) {
  refuse_link(removed.parent_path());
  const FolderLock lock(removed);
  const fs::path trash = removed.parent_path();
  const fs::path purged = free_name(trash, kPurgedPrefix + removed.filename().string());
  if (const auto error = rename_durably(removed, purged)) fail("delete", removed, error);
  finish_removals(trash.parent_path());
}

void finish_removals(const fs::path& parent) {
  std::error_code ignored;
  const fs::path latest = parent / "latest";
  if (fs::is_symlink(latest, ignored) && !fs::exists(latest, ignored)) {
    point_latest_to_newest(parent);
  }
  delete_left_overs(parent, kRemovedPrefix);
  const fs::path trash = trash_of(parent);
  if (fs::is_symlink(trash, ignored) || !fs::is_directory(trash, ignored)) return;
  delete_left_overs(trash, kPurgedPrefix);
  remove_empty_trash(trash);
}

namespace {

double seconds_since_change(const RunEntry& entry) {
  auto newest = fs::file_time_type::min();
  const run::RunDir run{entry.folder};
  for (const fs::path& path : {entry.folder, run.system(), run.metrics()}) {
    std::error_code error;
    const fs::file_time_type time = fs::last_write_time(path, error);
    if (!error) newest = std::max(newest, time);
  }
  return std::chrono::duration<double>(fs::file_time_type::clock::now() - newest).count();
}

// A run without a value would be sorted behind all others and removed, however good its model is.
void require_values(const std::vector<RunEntry>& entries, const std::string& sort) {
  const std::string name = full_name(sort.starts_with('-') ? sort.substr(1) : sort, entries);
  std::vector<std::string> without;
  for (const RunEntry& entry : entries) {
    const bool is_judged = entry.state != State::kRunning;  // running ones are kept
    if (is_judged && !value_of(entry, name)) without.push_back(entry.name);
  }
  if (without.empty()) return;
  throw Error(ErrorKind::kUsage,
              fmt::format("--keep-best: {} {} no value of {}, so which are best is not known: {}; "
                          "name another metric with --sort, or leave runs out with --filter",
                          counted(std::ssize(without), "run"), without.size() == 1 ? "has" : "have",
                          in_quotes(name), joined_some(without)));
}

}  // namespace

std::vector<RunEntry> removable(const std::vector<RunEntry>& entries, const RemovalRules& rules) {
  std::vector<RunEntry> sorted = entries;
  if (rules.keep_best) {
    if (*rules.keep_best > 0) require_values(sorted, rules.sort);
    sort_entries(sorted, rules.sort);
    const auto kept = std::min(sorted.size(), static_cast<std::size_t>(*rules.keep_best));
    sorted.erase(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(kept));
  }
  const auto may_go = [&](const RunEntry& entry) {
    const bool is_left = std::any_of(sorted.begin(), sorted.end(), [&](const RunEntry& other) {
      return other.folder == entry.folder;
    });
    const bool is_old = !rules.older_than || seconds_since_change(entry) > *rules.older_than;
    return is_left && is_old && entry.state != State::kRunning;
  };
  std::vector<RunEntry> removable;
  std::copy_if(entries.begin(), entries.end(), std::back_inserter(removable), may_go);
  return removable;
}

uint64_t bytes_in(const fs::path& folder) {
  uint64_t bytes = 0;
  std::error_code ignored;
  for (const auto& file : fs::recursive_directory_iterator(folder, ignored)) {
    // Checkpoints have several names, such as best.pt and last.pt, which share their bytes.
    const auto links = std::max<uintmax_t>(1, file.hard_link_count(ignored));
    if (file.is_regular_file(ignored)) bytes += file.file_size(ignored) / links;
  }
  return bytes;
}

}  // namespace trainer::tracking
