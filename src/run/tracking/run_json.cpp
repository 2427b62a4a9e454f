// SPDX-License-Identifier: Apache-2.0
#include "run/tracking/run_json.h"

namespace trainer::tracking {

Json to_json(const RunEntry& entry) {
  return {{"name", entry.name},
          {"folder", entry.folder.string()},
          {"kind", to_text(entry.kind)},
          {"state", to_text(entry.state)},
          {"reason", entry.reason},
          {"started", entry.started},
          {"time_seconds", entry.seconds},
          {"epochs", entry.epochs},
          {"planned_epochs", entry.planned_epochs},
          {"tag", entry.tag},
          {"note", entry.note},
          {"best_metric", entry.best_metric},
          {"metrics", metrics::scores_json(entry.metrics)},
          {"settings", entry.settings},
          {"problem", entry.problem}};
}

RunEntry from_json(const JsonReader& json, const std::filesystem::path& folder) {
  RunEntry entry;
  entry.folder = folder;
  entry.name = folder.filename().string();
  entry.kind = from_text<Kind>(json.text("kind")).value_or(Kind::kRun);
  entry.state = from_text<State>(json.text("state")).value_or(State::kKilled);
  entry.reason = json.text("reason");
  entry.started = json.text("started");
  entry.seconds = json.number("time_seconds").value_or(0);
  entry.epochs = json.integer("epochs");
  entry.planned_epochs = json.integer("planned_epochs");
  entry.tag = json.text("tag");
  entry.note = json.text("note");
  entry.best_metric = json.text("best_metric");
  for (const auto& [name, value] : json["metrics"].entries()) {
    entry.metrics.push_back({name, value.number()});
  }
  for (const auto& [key, value] : json["settings"].entries()) entry.settings[key] = value.text();
  entry.problem = json.text("problem");
  entry.best = metrics::find_score(entry.metrics, entry.best_metric);
  return entry;
}

}  // namespace trainer::tracking
