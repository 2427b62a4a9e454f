// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "trainer/base/error.h"
#include "trainer/base/io/read_text.h"
#include "trainer/config/load.h"

namespace trainer::config {

Document read_document(const std::filesystem::path& path) {
  const auto refuse = [&](const std::string& why) -> Error {
    return {ErrorKind::kUsage, fmt::format("{}: {}", path.string(), why)};
  };
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    throw refuse("expected a YAML file, got a folder; give the path of the file");
  }
  if (path == "-") {
    return {"standard input", std::string(std::istreambuf_iterator<char>(std::cin), {}),
            std::filesystem::current_path()};
  }
  constexpr const char* kProblem = "cannot read the configuration";
  std::optional<std::string> text = read_text(path, ErrorKind::kUsage, kProblem);
  if (!text) throw refuse(fmt::format("{}: {}", kProblem, std::strerror(ENOENT)));
  // What comes out of a pipe (/dev/stdin, <(command)) has no folder, so its relative paths start at
  // the working directory.
  const bool is_file = std::filesystem::is_regular_file(path, error);
  return {
      path.string(), std::move(*text),
      is_file ? std::filesystem::absolute(path).parent_path() : std::filesystem::current_path()};
}

}  // namespace trainer::config
