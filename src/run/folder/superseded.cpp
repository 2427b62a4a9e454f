// SPDX-License-Identifier: Apache-2.0
#include "trainer/run/folder/superseded.h"

#include <algorithm>
#include <map>
#include <sstream>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "trainer/base/io/read_text.h"
#include "trainer/base/text/format.h"
#include "trainer/base/text/json.h"
#include "trainer/base/text/parse.h"

namespace trainer::run {
namespace fs = std::filesystem;

fs::path superseded_folder(const RunDir& run) { return run.root / "superseded"; }

Superseded read_superseded(const fs::path& folder) {
  Superseded found{.folder = folder};
  std::istringstream metrics(read_text(found.files().metrics()).value_or(""));
  for (std::string line; std::getline(metrics, line);) {
    const Json record = parse_json_or_null(line);
    if (!record.is_object()) continue;
    ++found.num_records;
    const auto epoch = record.find("epoch");
    // A record of the test split has the best epoch, which may be earlier than all others here.
    if (epoch == record.end() || !epoch->is_number_integer() ||
        record.value("split", Json()) == "test") {
      continue;
    }
    const auto number = epoch->get<int64_t>();
    found.first_epoch = found.first_epoch == 0 ? number : std::min(found.first_epoch, number);
    found.last_epoch = std::max(found.last_epoch, number);
  }
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(found.files().checkpoints(), ignored)) {
    found.num_checkpoints += entry.path().extension() == ".pt" ? 1 : 0;
  }
  found.has_results = fs::exists(found.files().summary(), ignored);
  return found;
}

std::vector<Superseded> list_superseded(const RunDir& run) {
  std::map<int64_t, fs::path> folders;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(superseded_folder(run), ignored)) {
    if (const auto number = parse_int(entry.path().filename().string())) {
      folders[*number] = entry.path();
    }
  }
  std::vector<Superseded> all;
  all.reserve(folders.size());
  for (const auto& [number, folder] : folders) all.push_back(read_superseded(folder));
  return all;
}

std::string description(const Superseded& superseded) {
  std::vector<std::string> parts;
  if (superseded.num_records > 0) parts.push_back(counted(superseded.num_records, "record"));
  if (superseded.num_checkpoints > 0) {
    parts.push_back(counted(superseded.num_checkpoints, "checkpoint"));
  }
  if (superseded.has_results) parts.emplace_back("results");
  std::string epochs;
  if (superseded.last_epoch > superseded.first_epoch) {
    epochs = fmt::format("epochs {} to {}: ", superseded.first_epoch, superseded.last_epoch);
  } else if (superseded.last_epoch > 0) {
    epochs = fmt::format("epoch {}: ", superseded.last_epoch);
  }
  return epochs + fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace trainer::run
