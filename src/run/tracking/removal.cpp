// SPDX-License-Identifier: Apache-2.0
#include "trainer/run/tracking/removal.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <system_error>

#include <fmt/format.h>

#include "trainer/base/error.h"
#include "trainer/base/text/format.h"
#include "trainer/run/folder/run_dir.h"
#include "trainer/run/tracking/query.h"

namespace trainer::tracking {
namespace {

namespace fs = std::filesystem;

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
