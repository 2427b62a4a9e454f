// SPDX-License-Identifier: Apache-2.0
// Everything follows from metrics.jsonl, so a run that is resumed, or goes back, writes its curves
// anew from there. A curve is open while the run trains; what a reader sees of it are whole lines.
#include "trainer/report/dvclive/live_files.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "trainer/base/error.h"
#include "trainer/base/io/atomic_file.h"
#include "trainer/base/text/format.h"
#include "trainer/run/folder/metrics_log.h"

namespace trainer::dvclive {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 7> kNames = {
    "metrics.json", "plots", "params.yaml", "dvc.yaml", "report.html", "report.md", "artifacts"};

constexpr const char* kDvcYaml =
    "params:\n"
    "- params.yaml\n"
    "metrics:\n"
    "- metrics.json\n"
    "plots:\n"
    "- plots/metrics:\n"
    "    x: step\n";

[[noreturn]] void refuse(const fs::path& path, const std::string& why) {
  throw Error(ErrorKind::kFileSystem, fmt::format("cannot write {}: {}", path.string(), why));
}

fs::path curve_folder(const fs::path& folder) { return folder / "plots" / "metrics"; }

}  // namespace

void require_usable(const fs::path& folder) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    const bool is_temporary = name.starts_with('.') && name.find(".tmp-") != std::string::npos;
    if (is_temporary || std::find(kNames.begin(), kNames.end(), name) != kNames.end()) continue;
    throw Error(
        ErrorKind::kUsage,
        fmt::format("logging.dvclive: expected a folder of its own, got {}, which has {}; name "
                    "a new folder, such as dvclive",
                    in_quotes(folder.string()), in_quotes(name)));
  }
}

LiveFiles::LiveFiles(const fs::path& folder, const std::string& configuration) : folder_(folder) {
  std::error_code problem;
  fs::create_directories(folder_, problem);
  if (problem) refuse(folder_, problem.message());
  remove_temporary_files(folder_);
  write_file_atomically(folder_ / "params.yaml", configuration);
  write_file_atomically(folder_ / "dvc.yaml", kDvcYaml);
}

void LiveFiles::restart(const fs::path& metrics) {
  if (folder_.empty()) return;
  curves_.clear();
  latest_ = Json::object();
  std::error_code problem;
  fs::remove_all(curve_folder(folder_), problem);
  if (problem) refuse(curve_folder(folder_), problem.message());
  read_json_lines(metrics, [&](const JsonReader& record) { add_values(record); });
  write_latest();
}

void LiveFiles::add(const run::MetricsRecord& record) {
  if (folder_.empty()) return;
  add_values(JsonReader(run::json_of(record)));
  if (record.time_seconds) write_latest();
}

void LiveFiles::add_values(const JsonReader& record) {
  const int64_t step = record.integer("step");
  latest_["step"] = step;
  for (const run::Scalar& scalar : run::scalars(record)) {
    if (!std::isfinite(scalar.value)) continue;
    (scalar.split.empty() ? latest_ : latest_[scalar.split])[scalar.name] = scalar.value;
    const fs::path path = curve_folder(folder_) / scalar.split / (scalar.name + ".tsv");
    std::ofstream& curve = curve_of(path, scalar.name);
    curve << step << '\t' << shortest(scalar.value) << '\n';
    if (!curve.flush()) refuse(path, std::generic_category().message(errno));
  }
}

std::ofstream& LiveFiles::curve_of(const fs::path& path, const std::string& name) {
  const auto [found, is_new] = curves_.try_emplace(path);
  std::ofstream& curve = found->second;
  if (!is_new) return curve;
  std::error_code problem;
  fs::create_directories(path.parent_path(), problem);
  curve.open(path, std::ios::binary);
  curve << "step\t" << name << '\n';
  return curve;
}

void LiveFiles::write_latest() const {
  write_file_atomically(folder_ / "metrics.json", latest_.dump(4) + "\n");
}

}  // namespace trainer::dvclive
