// SPDX-License-Identifier: Apache-2.0
#include "trainer/base/io/user_folders.h"

#include <cstdlib>
#include <string>
#include <system_error>

#include <fmt/format.h>

#include "trainer/base/error.h"
#include "trainer/base/text/format.h"

namespace trainer {
namespace {

namespace fs = std::filesystem;

std::optional<fs::path> absolute_path_in(const char* variable) {
  const char* value = std::getenv(variable);
  if (value == nullptr || !fs::path(value).is_absolute()) return std::nullopt;
  return value;
}

std::optional<fs::path> own_folder(const char* variable, const char* in_home) {
  if (const auto named = absolute_path_in(variable)) return *named / "trainer";
  const auto home = home_folder();
  if (!home) return std::nullopt;
  return *home / in_home / "trainer";
}

}  // namespace

std::optional<fs::path> home_folder() { return absolute_path_in("HOME"); }

std::optional<fs::path> with_home(const std::string& text) {
  if (text != "~" && !text.starts_with("~/")) return text;
  const auto home = home_folder();
  if (!home) return std::nullopt;
  return home->string() + text.substr(1);
}

std::optional<fs::path> data_folder() { return own_folder("XDG_DATA_HOME", ".local/share"); }

std::optional<fs::path> cache_folder() { return own_folder("XDG_CACHE_HOME", ".cache"); }

fs::path temporary_folder() {
  const char* value = std::getenv("TMPDIR");
  const fs::path folder = value == nullptr || *value == '\0' ? "/tmp" : value;
  std::error_code error;
  if (folder.is_absolute() && fs::is_directory(folder, error)) return folder;
  const bool is_there = fs::exists(folder, error);
  const std::string reason = !folder.is_absolute() ? "the path is not absolute"
                             : error               ? error.message()
                             : is_there            ? "it is not a folder"
                                                   : "it is not there";
  throw Error(ErrorKind::kFileSystem,
              fmt::format("TMPDIR: expected a folder for temporary files, got {}: {}",
                          in_quotes(folder.string()), reason));
}

}  // namespace trainer
