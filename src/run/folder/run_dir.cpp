// SPDX-License-Identifier: Apache-2.0
#include "trainer/run/folder/run_dir.h"

#include <limits>
#include <system_error>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "trainer/base/error.h"
#include "trainer/base/io/atomic_file.h"
#include "trainer/base/io/log.h"
#include "trainer/base/text/format.h"

namespace trainer::run {
namespace fs = std::filesystem;
namespace {

[[noreturn]] void refuse(const fs::path& path, const std::error_code& why) {
  throw Error(ErrorKind::kFileSystem,
              fmt::format("cannot create the folder {}: {}; choose another one with --output-dir",
                          path.string(), why.message()));
}

}  // namespace

std::string run_name(const std::string& tag, std::time_t now) {
  return fmt::format("{:%Y%m%d_%H%M%S}{}{}", fmt::localtime(now), tag.empty() ? "" : "_", tag);
}

NewFolder::NewFolder(const fs::path& parent, const std::string& name) {
  std::error_code error;
  made_.make_with_parents(parent, error);
  if (error) refuse(parent, error);
  for (int attempt = 1; path_.empty(); ++attempt) {
    const fs::path path = parent / (attempt == 1 ? name : fmt::format("{}_{}", name, attempt));
    if (made_.make(path, error)) path_ = path;
    if (error && error != std::errc::file_exists) refuse(path, error);
  }
}

RunDir create_run_dir(const fs::path& parent, const std::string& tag, std::time_t now) {
  const NewFolder folder(parent, run_name(tag, now));
  RunDir run{folder.path()};
  std::error_code error;
  fs::create_directory(run.checkpoints(), error);
  if (error) refuse(run.checkpoints(), error);
  sync_folder(run.root);
  return run;
}

void check_free_space(const fs::path& folder, uint64_t checkpoint_bytes, int64_t num_checkpoints) {
  fs::path existing = fs::absolute(folder);
  std::error_code error;
  while (!fs::exists(existing, error) && existing.has_relative_path()) {
    existing = existing.parent_path();
  }
  const fs::space_info space = fs::space(existing, error);
  const auto count = static_cast<uint64_t>(num_checkpoints);
  constexpr uint64_t kMaxBytes = std::numeric_limits<uint64_t>::max();
  const uint64_t needed =
      checkpoint_bytes > kMaxBytes / count ? kMaxBytes : checkpoint_bytes * count;
  // If the free space is unknown, assume that it suffices.
  if (error || space.available >= needed) return;
  throw Error(
      ErrorKind::kFileSystem,
      fmt::format("{}: not enough disk space: {} checkpoints of {} need {}, {} are free; free some "
                  "space, choose another folder with --output-dir, or lower checkpoint.keep_last",
                  folder.string(), num_checkpoints, human_bytes(checkpoint_bytes),
                  human_bytes(needed), human_bytes(space.available)));
}

void point_latest_to(const RunDir& run) {
  try {
    const fs::path root = fs::weakly_canonical(run.root);  // it may be the link itself
    remove_temporary_files(root.parent_path(), "latest");
    replace_symlink(root.parent_path() / "latest", root.filename());
  } catch (const Error& e) {
    log::debug(e.what());
  }
}

fs::path find_run_dir(const fs::path& checkpoint) {
  // Resolves links such as runs/latest.
  const fs::path folder = fs::weakly_canonical(checkpoint).parent_path();
  const fs::path root = folder.parent_path();
  const bool is_run = folder.filename() == "checkpoints" && fs::exists(RunDir{root}.config());
  return is_run ? root : fs::path();
}

}  // namespace trainer::run
