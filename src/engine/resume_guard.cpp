// SPDX-License-Identifier: Apache-2.0
#include "engine/resume_guard.h"

#include <string>
#include <vector>

#include <fmt/format.h>

#include "trainer/config/dump.h"
#include "trainer/core/error.h"

namespace trainer::engine {
namespace {

std::string describe(const data::Fingerprint& file) {
  return fmt::format("{} bytes, CRC-32 {:08x}", file.num_bytes, file.crc32);
}

// Files are compared by what is in them: a file may have moved.
void add_changed_files(const std::vector<data::Fingerprint>& before,
                       const std::vector<data::Fingerprint>& after,
                       std::vector<std::string>& changes) {
  if (before.size() != after.size()) {
    changes.push_back(fmt::format("data files: {} before, {} now", before.size(), after.size()));
    return;
  }
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (before[i].num_bytes == after[i].num_bytes && before[i].crc32 == after[i].crc32) continue;
    changes.push_back(fmt::format("{}: {} before, {} now", after[i].path, describe(before[i]),
                                  describe(after[i])));
  }
}

}  // namespace

std::string check_resume(const TrainRequest& request, const data::Datasets& data) {
  const checkpoint::ResumePoint& resume = *request.resume;
  const config::Document document{resume.file.string(), resume.checkpoint.config, ""};
  const config::Config before = config::load({document}, {}).config;
  std::vector<std::string> changes;
  for (const auto& difference : config::fixed_differences(before, request.config.config)) {
    changes.push_back(
        fmt::format("{}: {} before, {} now", difference.key, difference.before, difference.after));
  }
  add_changed_files(resume.checkpoint.fingerprints, data.fingerprints, changes);
  if (changes.empty()) return "";
  const std::string list = fmt::format("{}", fmt::join(changes, "\n  "));
  if (request.on_change == OnChange::kRefuse) {
    throw Error(ErrorKind::kCheckpoint,
                fmt::format("{}: this is not the run that the checkpoint belongs to:\n  {}\n"
                            "undo the changes, start a new run, or give --allow-changes",
                            resume.file.string(), list));
  }
  return fmt::format("resuming with changes:\n  {}", list);
}

}  // namespace trainer::engine
