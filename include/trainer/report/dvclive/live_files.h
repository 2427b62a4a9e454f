// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "trainer/base/text/json.h"
#include "trainer/run/folder/metrics_log.h"

// The files of DVCLive (dvc.org/doc/dvclive; iterative/dvclive on GitHub), which dvc exp show, dvc
// plots and DVC's extension of VS Code read:
//   metrics.json                       the last value of each number
//   plots/metrics/<split>/<name>.tsv   a curve: step and value
//   params.yaml                        the configuration
//   dvc.yaml                           tells DVC of these files
namespace trainer::dvclive {

/// Throws Error(kUsage) if `folder` has anything that is not of DVCLive, which would be replaced.
void require_usable(const std::filesystem::path& folder);

/// The files of one run, which are written while it trains.
class LiveFiles {
 public:
  /// Of no folder: all functions do nothing.
  LiveFiles() = default;
  /// Replaces what another run has left in `folder`. `configuration` is YAML. Throws
  /// Error(kFileSystem), as do all functions.
  LiveFiles(const std::filesystem::path& folder, const std::string& configuration);

  /// Writes the curves of the records in `metrics`, a metrics.jsonl, in place of all so far: at the
  /// beginning of a resumed run, and when it was cut.
  void restart(const std::filesystem::path& metrics);

  /// Appends the numbers of a record to their curves.
  void add(const run::MetricsRecord& record);

 private:
  void add_values(const JsonReader& record);
  std::ofstream& curve_of(const std::filesystem::path& path, const std::string& name);
  void write_latest() const;

  std::filesystem::path folder_;
  std::map<std::filesystem::path, std::ofstream> curves_;
  Json latest_ = Json::object();
};

}  // namespace trainer::dvclive
