// SPDX-License-Identifier: Apache-2.0
#include "trainer/run/folder/libraries.h"

#include <zlib.h>

#include <fmt/format.h>
#include <spdlog/version.h>
#ifdef TRAINER_HAS_SQLITE
#include <sqlite3.h>
#endif
#ifdef TRAINER_HAS_ZSTD
#include <zstd.h>
#endif

#include "trainer/base/text/json.h"  // IWYU pragma: keep
#include "trainer/base/version.h"

namespace trainer::run {

std::vector<std::pair<std::string, std::string>> library_versions() {
  std::vector<std::pair<std::string, std::string>> libraries = {
      {"LibTorch", build_info().libtorch},
      {"yaml-cpp", TRAINER_YAML_CPP_VERSION},
      {"fmt",
       fmt::format("{}.{}.{}", FMT_VERSION / 10000, FMT_VERSION / 100 % 100, FMT_VERSION % 100)},
      {"spdlog", fmt::format("{}.{}.{}", SPDLOG_VER_MAJOR, SPDLOG_VER_MINOR, SPDLOG_VER_PATCH)},
      {"CLI11", TRAINER_CLI11_VERSION},
      {"nlohmann_json", fmt::format("{}.{}.{}", NLOHMANN_JSON_VERSION_MAJOR,
                                    NLOHMANN_JSON_VERSION_MINOR, NLOHMANN_JSON_VERSION_PATCH)},
      {"zlib", zlibVersion()}};
#ifdef TRAINER_HAS_ZSTD
  libraries.emplace_back("zstd", ZSTD_versionString());
#endif
#ifdef TRAINER_HAS_SQLITE
  libraries.emplace_back("SQLite", sqlite3_libversion());
#endif
  return libraries;
}

}  // namespace trainer::run
