// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "trainer/base/text/json.h"

#include "support/files.h"

namespace trainer::test {

/// The records of metrics.jsonl.
inline std::vector<Json> metrics_records(const std::filesystem::path& metrics) {
  std::vector<Json> records;
  for (const std::string& line : lines_of(read_file(metrics))) {
    records.push_back(parse_json(line));
  }
  return records;
}

/// Their lines without the fields that no two runs have in common.
inline std::vector<std::string> timeless_lines(const std::filesystem::path& metrics) {
  std::vector<std::string> lines;
  for (Json& record : metrics_records(metrics)) {
    for (const char* field :
         {"samples_per_second", "time_seconds", "communication_seconds", "memory_bytes",
          "peak_memory_bytes", "device_memory_bytes", "peak_device_memory_bytes"}) {
      record.erase(field);
    }
    lines.push_back(record.dump());
  }
  return lines;
}

}  // namespace trainer::test
