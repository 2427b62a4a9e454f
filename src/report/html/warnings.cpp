// SPDX-License-Identifier: Apache-2.0
#include "report/html/warnings.h"

#include <algorithm>
#include <cstddef>
#include <sstream>
#include <string_view>
#include <system_error>

#include "trainer/base/io/read_text.h"
#include "trainer/run/folder/run_dir.h"

namespace trainer::report {
namespace {

namespace fs = std::filesystem;

/// Returns the log of the folder itself, or else the logs of the runs in it.
std::vector<fs::path> logs_of(const fs::path& folder) {
  std::error_code ignored;
  if (fs::exists(run::RunDir{folder}.log(), ignored)) return {run::RunDir{folder}.log()};
  std::vector<fs::path> logs;
  for (const auto& item : fs::directory_iterator(folder, ignored)) {
    const fs::path log = run::RunDir{item.path()}.log();
    if (!item.is_symlink(ignored) && fs::exists(log, ignored)) logs.push_back(log);
  }
  std::sort(logs.begin(), logs.end());
  return logs;
}

}  // namespace

std::vector<std::string> logged_warnings(const fs::path& folder) {
  // A line is "2026-11-27 00:41:38.123 warning text". Further lines of the text are indented.
  constexpr std::size_t kTime = std::string_view("2026-11-27 00:41:38.123 ").size();
  constexpr std::string_view kWarning = "warning ";
  std::vector<std::string> warnings;
  const auto add = [&](const std::string& text) {
    const bool is_known = std::find(warnings.begin(), warnings.end(), text) != warnings.end();
    if (!text.empty() && !is_known) warnings.push_back(text);
  };
  for (const fs::path& log : logs_of(folder)) {
    std::istringstream file(read_text(log).value_or(""));
    std::string text;
    for (std::string line; std::getline(file, line);) {
      if (!text.empty() && line.starts_with("  ")) {
        text += " " + line.substr(2);
        continue;
      }
      add(text);
      const bool is_warning = line.size() > kTime && line.substr(kTime).starts_with(kWarning);
      text = is_warning ? line.substr(kTime + kWarning.size()) : "";
    }
    add(text);
  }
  return warnings;
}

}  // namespace trainer::report
