// SPDX-License-Identifier: Apache-2.0
#include "workflows/experiments/fold_runs.h"

#include <string>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "trainer/base/error.h"
#include "trainer/base/text/json.h"
#include "trainer/base/text/parse.h"
#include "trainer/run/folder/run_dir.h"

namespace trainer::experiments {

namespace fs = std::filesystem;

std::vector<FoldIndex> all_folds(const metrics::FoldCounts& counts) {
  std::vector<FoldIndex> indices;
  for (int64_t repeat = 1; repeat <= counts.repeats; ++repeat) {
    for (int64_t fold = 1; fold <= counts.folds; ++fold) indices.push_back({fold, repeat});
  }
  return indices;
}

std::string fold_tag(const FoldIndex& index, const metrics::FoldCounts& counts) {
  if (counts.repeats == 1) return fmt::format("fold_{}", index.fold);
  return fmt::format("fold_{}_repeat_{}_of_{}", index.fold, index.repeat, counts.repeats);
}

std::string fold_name(const FoldIndex& index, const metrics::FoldCounts& counts) {
  std::string name = fmt::format("fold {}/{}", index.fold, counts.folds);
  if (counts.repeats > 1) name += fmt::format(" of repeat {}/{}", index.repeat, counts.repeats);
  return name;
}

int64_t find_num_repeats(const fs::path& folder) {
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

std::optional<metrics::FoldResult> read_fold(const fs::path& run_dir, const FoldIndex& index) {
  const fs::path path = run::RunDir{run_dir}.summary();
  if (!fs::exists(path)) return std::nullopt;
  const JsonReader summary = JsonReader::of_file(path);
  const JsonReader test = summary["test"];
  if (test.is_null()) {
    throw Error(ErrorKind::kFileSystem,
                fmt::format("{}: expected the summary of a run with a test split; remove the run "
                            "folder to train this fold again",
                            path.string()));
  }
  metrics::FoldResult result;
  result.fold = index.fold;
  result.repeat = index.repeat;
  result.run = run_dir.filename().string();
  result.best_epoch = summary["best"].integer("epoch");
  result.num_rows = test.integer("rows");
  for (const auto& [name, value] : test["baseline"].entries()) {
    if (value.is_number()) result.baseline.push_back({name, value.number()});
  }
  for (const auto& [name, value] : test.entries()) {
    if (name != "rows" && value.is_number()) result.scores.push_back({name, value.number()});
  }
  return result;
}

bool has_validation_folds(const config::DataConfig& data) {
  return data.validation_path.empty() && data.split_column.empty() && data.time.empty() &&
         data.validation_fraction > 0;
}

std::vector<config::Override> validation_fold(int64_t fold, int64_t num_folds,
                                              const std::string& option) {
  return {{"data.validation_folds", std::to_string(num_folds), option},
          {"data.validation_fold", std::to_string(fold), "number of the run"},
          {"data.fit_on", "train_and_validation", "folder of the runs"}};
}

}  // namespace trainer::experiments
