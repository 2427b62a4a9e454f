// SPDX-License-Identifier: Apache-2.0
#include "trainer/run/folder/metrics_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "trainer/base/error.h"
#include "trainer/base/io/atomic_file.h"
#include "trainer/base/io/crash_point.h"
#include "trainer/base/io/until_done.h"
#include "trainer/base/text/json.h"

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

}  // namespace trainer::run
