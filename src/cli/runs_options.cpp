// SPDX-License-Identifier: Apache-2.0
#include "cli/runs_options.h"

#include <sstream>
#include <system_error>

#include <fmt/format.h>

#include "trainer/base/error.h"
#include "trainer/base/text/format.h"
#include "trainer/run/tracking/query.h"
#include "trainer/run/tracking/trash.h"

#include "cli/agent.h"

namespace trainer::cli {

namespace fs = std::filesystem;

Option folder_option(std::string& folder) {
  return {"folder", &folder, "FOLDER", "The folder of the runs (runs)"};
}

Option filter_option(std::vector<std::string>& filters) {
  return {"--filter", &filters, "EXPRESSION",
          "Only those for which it is true: 'val.accuracy>0.9 and training.learning_rate<1e-2'"};
}

std::vector<Option> ListFormatOptions::options() {
  return {{"--json", &json_, "", "Print everything as JSON"},
          {"--csv", &csv_, "", "Print everything as CSV"},
          {"--markdown", &markdown_, "", "Print a Markdown table"}};
}

void ListFormatOptions::check(const std::string& command, Problems& problems) const {
  if (static_cast<int>(json_) + static_cast<int>(csv_) + static_cast<int>(markdown_) > 1) {
    problems.push_back(fmt::format("{}: choose one of --json, --csv and --markdown", command));
  }
}

tracking::ListFormat ListFormatOptions::format() const {
  if (json_) return tracking::ListFormat::kJson;
  if (csv_) return tracking::ListFormat::kCsv;
  return markdown_ || is_for_agent() ? tracking::ListFormat::kMarkdown
                                     : tracking::ListFormat::kText;
}

std::vector<tracking::RunEntry> entries_of(const std::string& folder,
                                           const std::vector<std::string>& filters) {
  std::error_code error;
  if (!fs::is_directory(folder, error)) {
    throw Error(ErrorKind::kFileSystem,
                fmt::format("{}: expected a folder with runs{}", folder,
                            error ? fmt::format(": {}", error.message()) : ""));
  }
  std::vector<tracking::RunEntry> entries = tracking::read_entries(folder);
  for (const std::string& filter : filters)
    entries = tracking::filtered(std::move(entries), filter);
  return entries;
}

tracking::RunEntry entry_of(const std::string& run) {
  for (const fs::path& path : {fs::path(run), fs::path("runs") / run}) {
    std::error_code ignored;
    const fs::path folder = fs::canonical(path, ignored);  // resolves links such as "latest"
    if (folder.empty()) continue;
    if (const auto entry = tracking::read_entry(folder)) return *entry;
  }
  throw Error(ErrorKind::kUsage,
              fmt::format("{}: expected a run folder, or the name of one in runs; `trainer runs "
                          "list` shows them",
                          run));
}

std::vector<tracking::RunEntry> entries_of_runs(const std::vector<std::string>& runs) {
  std::vector<tracking::RunEntry> entries;
  entries.reserve(runs.size());
  for (const std::string& run : runs) entries.push_back(entry_of(run));
  return entries;
}

std::vector<tracking::RunEntry> removed_runs(const std::string& folder,
                                             const std::vector<std::string>& names) {
  const fs::path trash = tracking::trash_of(folder);
  if (names.empty()) return tracking::removed_entries(folder);
  std::vector<tracking::RunEntry> entries;
  for (const std::string& name : names) {
    fs::path path = fs::path(name).lexically_normal();
    if (!path.has_filename()) path = path.parent_path();  // "runs/a/" means "runs/a"
    const fs::path parent = path.parent_path();
    fs::path place = parent.filename() == trash.filename() ? parent : tracking::trash_of(parent);
    if (parent.empty()) place = trash;
    const bool is_hidden = path.filename().string().starts_with('.');  // "." or a run being purged
    const auto entry = is_hidden ? std::nullopt : tracking::read_entry(place / path.filename());
    if (!entry) {
      throw Error(ErrorKind::kUsage,
                  fmt::format("{}: expected a removed run, which is in {}; `trainer runs purge` "
                              "lists them",
                              name, place.string()));
    }
    entries.push_back(*entry);
  }
  return entries;
}

std::string count_and_size(const std::vector<tracking::RunEntry>& entries) {
  uint64_t bytes = 0;
  for (const tracking::RunEntry& entry : entries) bytes += tracking::bytes_in(entry.folder);
  return fmt::format("{}, {}", counted(std::ssize(entries), "run"), human_bytes(bytes));
}

std::vector<std::string> names_in(const std::string& list) {
  std::vector<std::string> names;
  std::istringstream words(list);
  for (std::string name; std::getline(words, name, ',');) {
    name.erase(0, name.find_first_not_of(' '));
    name.resize(name.find_last_not_of(' ') + 1);
    if (!name.empty()) names.push_back(name);
  }
  return names;
}

}  // namespace trainer::cli
