// SPDX-License-Identifier: Apache-2.0
#include "cli/cv_runs.h"

#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "trainer/core/error.h"
#include "trainer/core/text.h"
#include "trainer/run/run_dir.h"

namespace trainer::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

}  // namespace

std::string fold_tag(const FoldPlace& place) {
  if (place.num_repeats == 1) return fmt::format("fold_{}", place.fold);
  return fmt::format("fold_{}_repeat_{}_of_{}", place.fold, place.repeat, place.num_repeats);
}

int64_t find_repeats(const fs::path& folder) {
  constexpr std::string_view kBefore = "_fold_1_repeat_1_of_";
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    const std::size_t at = name.rfind(kBefore);
    if (at == std::string::npos) continue;
    if (const auto count = parse_int(name.substr(at + kBefore.size()))) return *count;
  }
  return 1;
}

std::optional<fs::path> find_fold(const fs::path& folder, const FoldPlace& place) {
  const std::string end = "_" + fold_tag(place);
  std::optional<fs::path> newest;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (!name.ends_with(end) || !entry.is_directory(ignored)) continue;
    if (!newest || name > newest->filename().string()) newest = entry.path();
  }
  return newest;
}

std::optional<metrics::FoldResult> read_fold(const fs::path& run_dir, const FoldPlace& place) {
  const fs::path path = run::RunDir{run_dir}.summary();
  std::ifstream file(path);
  if (!file) return std::nullopt;
  const Json summary = Json::parse(file, nullptr, /*allow_exceptions=*/false);
  if (!summary.is_object() || !summary.contains("test")) {
    throw Error(ErrorKind::kFileSystem,
                fmt::format("{}: expected the summary of a run with a test part; remove the run "
                            "folder to train the fold again",
                            path.string()));
  }
  metrics::FoldResult result;
  result.fold = place.fold;
  result.repeat = place.repeat;
  result.run = run_dir.filename().string();
  if (summary.contains("best")) result.best_epoch = summary["best"].value("epoch", int64_t{0});
  result.num_rows = summary["test"].value("rows", int64_t{0});
  if (summary["test"].contains("baseline")) {
    for (const auto& [name, value] : summary["test"]["baseline"].items()) {
      if (value.is_number()) result.baseline.push_back({name, value.get<double>()});
    }
  }
  for (const auto& [name, value] : summary["test"].items()) {
    if (name != "rows" && value.is_number()) result.scores.push_back({name, value.get<double>()});
  }
  return result;
}

}  // namespace trainer::cli
