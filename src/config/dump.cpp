// SPDX-License-Identifier: Apache-2.0
#include "trainer/config/dump.h"

#include <algorithm>

#include <fmt/format.h>

#include "trainer/config/fields.h"

namespace trainer::config {
namespace {

std::vector<std::string> split_path(const std::string& path) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (std::size_t dot = path.find('.'); dot != std::string::npos; dot = path.find('.', begin)) {
    parts.push_back(path.substr(begin, dot - begin));
    begin = dot + 1;
  }
  parts.push_back(path.substr(begin));
  return parts;
}

}  // namespace

std::string dump(const Loaded& loaded) {
  constexpr std::size_t kCommentColumn = 44;
  std::string text;
  std::vector<std::string> open;  // sections that the last line stands in
  for (const Field& field : fields()) {
    const std::vector<std::string> parts = split_path(field.path);
    const std::size_t depth = parts.size() - 1;
    std::size_t shared = 0;
    while (shared < std::min(open.size(), depth) && open[shared] == parts[shared]) ++shared;
    for (std::size_t level = shared; level < depth; ++level) {
      text += fmt::format("{:{}}{}:\n", "", 2 * level, parts[level]);
    }
    open.assign(parts.begin(), parts.end() - 1);
    const std::string line =
        fmt::format("{:{}}{}: {}", "", 2 * depth, parts.back(), value_text(field, loaded.config));
    text += fmt::format("{:<{}}  # {}\n", line, kCommentColumn, origin_of(loaded, field.path));
  }
  return text;
}

std::vector<Difference> fixed_differences(const Config& before, const Config& after) {
  std::vector<Difference> differences;
  for (const Field& field : fields()) {
    if (field.on_resume == OnResume::kMayChange) continue;
    std::string old_value = value_text(field, before);
    std::string new_value = value_text(field, after);
    if (old_value != new_value) {
      differences.push_back({field.path, std::move(old_value), std::move(new_value)});
    }
  }
  return differences;
}

}  // namespace trainer::config
