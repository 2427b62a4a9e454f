// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include <fmt/format.h>

#include "support/temporary_folder.h"

namespace trainer::test {

/// What a run folder without checkpoints says of a run of two epochs.
struct WrittenRun {
  std::string config = "training: {epochs: 2}\n";
  double val_loss = 0.5;  // of the second epoch; that of the first is 1
  bool is_complete = true;
  std::string end = {};  // JSON in system.json: {"result": "stopped", "reason": "SIGTERM"}
  std::string started = "2026-01-02T03:04:05+0000";
};

/// Writes the files of a run into folder `name` of `parent` and returns its path.
inline std::filesystem::path write_run(const TemporaryFolder& parent, const std::string& name,
                                       const WrittenRun& run = {}) {
  parent.write(name + "/config_resolved.yaml", run.config);
  parent.write(name + "/metrics.jsonl",
               fmt::format(R"({{"step":1,"epoch":1,"split":"train","loss":2,"accuracy":0.5}}
{{"step":2,"epoch":1,"split":"train","loss":1.5,"accuracy":0.5,"time_seconds":2}}
{{"step":2,"epoch":1,"split":"validation","loss":1,"accuracy":0.6,"time_seconds":0.1}}
{{"step":4,"epoch":2,"split":"train","loss":0.7,"accuracy":0.8,"time_seconds":3}}
{{"step":4,"epoch":2,"split":"validation","loss":{},"accuracy":0.75,"time_seconds":0.1}}
)",
                           run.val_loss));
  parent.write(name + "/system.json",
               fmt::format(R"({{"starts":[{{"time":"{}","device":"cpu"{}}}]}})", run.started,
                           run.end.empty() ? "" : fmt::format(R"(,"end":{})", run.end)));
  if (run.is_complete) {
    parent.write(name + "/summary.json",
                 fmt::format(R"({{"best":{{"epoch":2}},"validation":{{"rows":9,"loss":{0},)"
                             R"("accuracy":0.75}},"test":{{"rows":9,"loss":{0},"f1":0.5}}}})",
                             run.val_loss));
  }
  return parent.path() / name;
}

}  // namespace trainer::test
