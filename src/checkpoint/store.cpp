// SPDX-License-Identifier: Apache-2.0
#include "trainer/checkpoint/store.h"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "trainer/core/error.h"
#include "trainer/core/text.h"

namespace trainer::checkpoint {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kEpochPrefix = "checkpoint_epoch_";

// 5 of "checkpoint_epoch_005.pt", nothing of other names.
std::optional<int64_t> epoch_of(const fs::path& path) {
  const std::string stem = path.stem().string();
  if (path.extension() != ".pt" || !stem.starts_with(kEpochPrefix)) return std::nullopt;
  return parse_int(stem.substr(kEpochPrefix.size()));
}

// A second name for a complete file, put in place by one rename.
void publish(const fs::path& file, const fs::path& name) {
  const fs::path temporary = name.parent_path() / ("." + name.filename().string() + ".tmp-link");
  std::error_code error;
  fs::remove(temporary, error);
  fs::create_hard_link(fs::weakly_canonical(file), temporary, error);  // not a link itself
  if (error) fs::copy_file(file, temporary, fs::copy_options::overwrite_existing, error);
  if (!error) fs::rename(temporary, name, error);
  if (error) {
    throw Error(ErrorKind::kFileSystem,
                fmt::format("cannot write {}: {}", name.string(), error.message()));
  }
}

// Whether the file is a good checkpoint of the epoch that is `wanted`, of the same course.
bool is_best(const fs::path& file, const Best& wanted) {
  if (!fs::exists(file)) return false;
  try {
    const Checkpoint checkpoint = read(file);
    return checkpoint.position.epoch == wanted.epoch && checkpoint.best &&
           checkpoint.best->epoch == wanted.epoch && checkpoint.best->value == wanted.value;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

Store::Store(fs::path folder, int64_t keep_last)
    : folder_(std::move(folder)), keep_last_(keep_last) {}

void Store::save(const Checkpoint& checkpoint, SaveAs names) {
  if (!names.epoch_file) {
    if (names.last) write(last(), checkpoint);
    if (names.best) write(best(), checkpoint);
    return;
  }
  const fs::path file = epoch_file(checkpoint.position.epoch);
  write(file, checkpoint);
  publish(file, last());
  if (names.best) publish(file, best());
  prune(checkpoint.position.epoch);
}

bool Store::recover_best(const Best& wanted, const fs::path& resumed) const {
  for (const fs::path& file : {best(), resumed, epoch_file(wanted.epoch)}) {
    if (!is_best(file, wanted)) continue;
    if (file != best()) publish(file, best());
    return true;
  }
  return false;
}

fs::path Store::epoch_file(int64_t epoch) const {
  return folder_ / fmt::format("{}{:03}.pt", kEpochPrefix, epoch);
}

void Store::prune(int64_t newest_epoch) const {
  std::map<int64_t, fs::path, std::greater<>> files;  // newest first
  for (const auto& entry : fs::directory_iterator(folder_)) {
    if (const auto epoch = epoch_of(entry.path())) files[*epoch] = entry.path();
  }
  int64_t to_keep = keep_last_;
  for (const auto& [epoch, file] : files) {
    // Epochs after this one are of a course that a resume from an earlier checkpoint gave up.
    const bool keep = epoch <= newest_epoch && to_keep-- > 0;
    std::error_code ignored;  // a file that cannot be removed harms nobody
    if (!keep) fs::remove(file, ignored);
  }
}

}  // namespace trainer::checkpoint
