// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

namespace trainer::test {

/// All bytes of a file; none where there is no such file.
inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

/// The names of what is in `folder`, sorted.
inline std::vector<std::string> file_names(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

/// Whether a file that was not written to its end (base/io/atomic_file.h) is in `folder` or below
/// it.
inline bool has_temporary_files(const std::filesystem::path& folder) {
  const std::filesystem::recursive_directory_iterator entries(folder);
  return std::any_of(begin(entries), end(entries), [](const auto& entry) {
    return entry.path().filename().string().find(".tmp-") != std::string::npos;
  });
}

/// The parts of `text` that end in `separator`, and what follows the last one, if anything.
inline std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

inline std::vector<std::string> lines_of(const std::string& text) { return split(text, '\n'); }

/// The last line of `text`, without its end.
inline std::string last_line(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

/// The cells of CSV text without quotes.
inline std::vector<std::vector<std::string>> cells_of(const std::string& text) {
  std::vector<std::vector<std::string>> rows;
  for (const std::string& line : lines_of(text)) rows.push_back(split(line, ','));
  return rows;
}

}  // namespace trainer::test
