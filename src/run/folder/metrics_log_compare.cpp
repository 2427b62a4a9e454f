// SPDX-License-Identifier: Apache-2.0
#include "trainer/run/folder/metrics_log_compare.h"

#include <cerrno>
#include <cstring>
#include <fstream>

#include <fmt/format.h>

#include "trainer/base/error.h"
#include "trainer/base/text/json.h"

namespace trainer::run {
namespace {

std::ifstream open_metrics(const std::filesystem::path& path) {
  std::ifstream file(path);
  if (!file) {
    throw Error(ErrorKind::kFileSystem,
                fmt::format("cannot read {}: {}", path.string(), std::strerror(errno)));
  }
  return file;
}

constexpr const char* kOfTheMachine[] = {
    "samples_per_second", "time_seconds",        "communication_seconds",   "memory_bytes",
    "peak_memory_bytes",  "device_memory_bytes", "peak_device_memory_bytes"};

// Returns the next record without the fields that differ between equal runs. A line that is no
// record is returned unchanged.
std::optional<std::string> next_record(std::ifstream& file) {
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  Json record = parse_json_or_null(line);
  if (!record.is_object()) return line;
  for (const char* field : kOfTheMachine) {
    record.erase(field);
    // The rate of an interval without measurable time is infinite.
    if (record.contains("non_finite")) record["non_finite"].erase(field);
  }
  if (record.contains("non_finite") && record["non_finite"].empty()) record.erase("non_finite");
  return record.dump();
}

}  // namespace

std::optional<std::string> first_difference(const std::filesystem::path& metrics_a,
                                            const std::filesystem::path& metrics_b) {
  std::ifstream a = open_metrics(metrics_a);
  std::ifstream b = open_metrics(metrics_b);
  for (int line = 1;; ++line) {
    const std::optional<std::string> record_a = next_record(a);
    const std::optional<std::string> record_b = next_record(b);
    if (record_a != record_b) {
      return fmt::format("line {}: {} and {}", line, record_a.value_or("nothing"),
                         record_b.value_or("nothing"));
    }
    if (!record_a) return std::nullopt;
  }
}

}  // namespace trainer::run
