// SPDX-License-Identifier: Apache-2.0
#include "trainer/run/folder/metrics_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "trainer/base/error.h"
#include "trainer/base/io/atomic_file.h"
#include "trainer/base/io/read_text.h"
#include "trainer/base/text/json.h"
#include "trainer/metrics/score.h"

namespace trainer::run {
namespace fs = std::filesystem;
namespace {

[[noreturn]] void refuse(const std::filesystem::path& path) {
  throw Error(ErrorKind::kFileSystem,
              fmt::format("cannot write {}: {}", path.string(), std::strerror(errno)));
}

const char* name_of_non_finite(double value) {
  if (std::isnan(value)) return "nan";
  return value > 0 ? "inf" : "-inf";
}

}  // namespace

Json json_of(const MetricsRecord& record) {
  Json line = {{"step", record.step}, {"epoch", record.epoch}, {"split", record.split}};
  Json non_finite = Json::object();
  const auto add = [&](const std::string& name, const std::optional<double>& value) {
    if (!value) return;
    line[name] = *value;  // JSON has no NaN, which becomes null in the text
    if (!std::isfinite(*value)) non_finite[name] = name_of_non_finite(*value);
  };
  add("loss", record.loss);
  add("accuracy", record.accuracy);
  for (const metrics::Score& score : record.scores) add(score.name, score.value);
  add("learning_rate", record.learning_rate);
  add("grad_norm", record.grad_norm);
  add("samples_per_second", record.samples_per_second);
  add("time_seconds", record.time_seconds);
  add("communication_seconds", record.communication_seconds);
  add("loss_scale", record.loss_scale);
  const auto add_count = [&](const char* name, const std::optional<int64_t>& value) {
    if (value) line[name] = *value;
  };
  add_count("skipped_steps", record.skipped_steps);
  add_count("rollbacks", record.rollbacks);
  add_count("overflowed_steps", record.overflowed_steps);
  add_count("out_of_memory", record.out_of_memory);
  add_count("micro_batch_size", record.micro_batch_size);
  add_count("memory_bytes", record.memory_bytes);
  add_count("peak_memory_bytes", record.peak_memory_bytes);
  add_count("device_memory_bytes", record.device_memory_bytes);
  add_count("peak_device_memory_bytes", record.peak_device_memory_bytes);
  if (!non_finite.empty()) line["non_finite"] = std::move(non_finite);
  return line;
}

std::string to_json(const MetricsRecord& record) { return json_of(record).dump(); }

void require_records(const fs::path& path, uint64_t num_bytes) {
  std::error_code error;
  const uintmax_t size = fs::exists(path, error) ? fs::file_size(path, error) : 0;
  if (error) {
    throw Error(ErrorKind::kFileSystem,
                fmt::format("{}: cannot be read: {}", path.string(), error.message()));
  }
  if (size >= num_bytes) return;
  throw Error(ErrorKind::kFileSystem,
              fmt::format("{}: expected at least {} bytes as recorded in the checkpoint, got {}; "
                          "to resume into a new run folder, copy the checkpoint elsewhere",
                          path.string(), num_bytes, size));
}

MetricsLog::MetricsLog(std::filesystem::path path, uint64_t keep_bytes)
    : path_(std::move(path)), descriptor_(until_done([&] {
        return open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
      })) {
  if (descriptor_ < 0) refuse(path_);
  try {
    cut_to(keep_bytes);
    sync_folder(fs::absolute(path_).parent_path());  // so that the file exists if a checkpoint does
  } catch (const Error&) {
    close(descriptor_);
    throw;
  }
}

MetricsLog::~MetricsLog() {
  if (descriptor_ >= 0) close(descriptor_);
}

void MetricsLog::append(const MetricsRecord& record) {
  if (descriptor_ < 0) return;
  crash_point();
  const std::string line = to_json(record) + "\n";
  std::size_t done = 0;
  while (done < line.size()) {
    const ssize_t written =
        until_done([&] { return write(descriptor_, line.data() + done, line.size() - done); });
    if (written < 0) refuse(path_);
    done += static_cast<std::size_t>(written);
  }
  num_bytes_ += line.size();
}

void MetricsLog::cut_to(uint64_t num_bytes) {
  if (descriptor_ < 0) return;
  require_records(path_, num_bytes);
  crash_point();
  if (until_done([&] { return ftruncate(descriptor_, static_cast<off_t>(num_bytes)); }) != 0) {
    refuse(path_);
  }
  crash_point();
  num_bytes_ = num_bytes;
}

void MetricsLog::sync() {
  if (descriptor_ >= 0 && sync_file(descriptor_) != 0) refuse(path_);
}

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

namespace {

constexpr std::array<std::string_view, 4> kSplits = {"train", "validation", "val", "test"};
constexpr std::array<std::string_view, 6> kOfRun = {"learning_rate",      "grad_norm",
                                                    "samples_per_second", "loss_scale",
                                                    "memory_bytes",       "device_memory_bytes"};

bool is_of_run(std::string_view name) {
  return std::find(kOfRun.begin(), kOfRun.end(), name) != kOfRun.end();
}

bool is_of_split(const std::string& name) {
  return name == "loss" || name == "accuracy" || metrics::is_score(name);
}

std::string curve_split(const JsonReader& record) {
  const std::string split = record.text("split");
  // Only known names are accepted, because the split becomes the name of a folder.
  if (std::find(kSplits.begin(), kSplits.end(), split) == kSplits.end()) {
    record["split"].refuse("train, validation or test");
  }
  return record.has("time_seconds") ? split : split + "_steps";
}

}  // namespace

std::vector<Scalar> scalars(const JsonReader& record) {
  const std::string split = curve_split(record);
  std::vector<Scalar> result;
  for (const auto& [name, value] : record.entries()) {
    if (!value.is_number()) continue;
    if (is_of_split(name)) result.push_back({name, split, value.number()});
    if (is_of_run(name)) result.push_back({name, "", value.number()});
  }
  return result;
}

}  // namespace trainer::run
