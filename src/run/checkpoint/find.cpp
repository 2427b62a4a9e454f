// SPDX-License-Identifier: Apache-2.0
#include "trainer/run/checkpoint/find.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "trainer/base/error.h"
#include "trainer/base/text/format.h"
#include "trainer/run/folder/run_dir.h"

namespace trainer::checkpoint {
namespace fs = std::filesystem;
namespace {

// Returns the paths of the newest run folders in `folder`, for a message.
std::vector<std::string> newest_runs(const fs::path& folder) {
  constexpr std::size_t kMaxRuns = 3;
  std::vector<std::string> runs;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.is_symlink(error) || !fs::exists(run::RunDir{entry.path()}.config(), error)) continue;
    runs.push_back((folder / entry.path().filename()).lexically_normal().string());
  }
  std::sort(runs.rbegin(), runs.rend());
  if (runs.size() > kMaxRuns) runs.resize(kMaxRuns);
  return runs;
}

std::string list_checkpoints(fs::path folder) {
  if (folder.empty()) folder = ".";
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".pt") names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  if (!names.empty()) return fmt::format("{} has {}", folder.string(), joined(names));
  const std::vector<std::string> runs = newest_runs(folder);
  if (runs.empty()) return "there are no checkpoints in " + folder.string();
  return "specify a run: " + joined(runs, " or ");
}

[[noreturn]] void no_checkpoint(const fs::path& given, const fs::path& folder) {
  throw Error(ErrorKind::kCheckpoint,
              fmt::format("{}: no such checkpoint; {}", given.string(), list_checkpoints(folder)));
}

}  // namespace

fs::path find_checkpoint(const fs::path& given) {
  if (fs::is_regular_file(given)) return given;
  if (fs::is_directory(given)) {
    for (const fs::path& folder : {given / "checkpoints", given}) {
      if (fs::is_regular_file(folder / "last.pt")) return folder / "last.pt";
    }
    no_checkpoint(given, fs::is_directory(given / "checkpoints") ? given / "checkpoints" : given);
  }
  const fs::path folder = given.parent_path() / "checkpoints";
  if (fs::is_regular_file(folder / given.filename())) return folder / given.filename();
  no_checkpoint(given, fs::is_directory(folder) ? folder : fs::path(given).remove_filename());
}

}  // namespace trainer::checkpoint
