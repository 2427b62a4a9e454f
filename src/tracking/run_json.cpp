// SPDX-License-Identifier: Apache-2.0
#include "tracking/run_json.h"

#include <utility>

namespace trainer::tracking {

Json to_json(const RunEntry& entry) {
  Json metrics = Json::object();
  for (const metrics::Score& score : entry.metrics) metrics[score.name] = score.value;
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
          {"metrics", std::move(metrics)},
          {"settings", entry.settings},
          {"problem", entry.problem}};
}

RunEntry from_json(const Json& json, const std::filesystem::path& folder) {
  RunEntry entry;
  entry.folder = folder;
  entry.name = folder.filename().string();
  entry.kind = from_text<Kind>(json.at("kind").get<std::string>()).value_or(Kind::kRun);
  entry.state = from_text<State>(json.at("state").get<std::string>()).value_or(State::kKilled);
  json.at("reason").get_to(entry.reason);
  json.at("started").get_to(entry.started);
  json.at("time_seconds").get_to(entry.seconds);
  json.at("epochs").get_to(entry.epochs);
  json.at("planned_epochs").get_to(entry.planned_epochs);
  json.at("tag").get_to(entry.tag);
  json.at("note").get_to(entry.note);
  json.at("best_metric").get_to(entry.best_metric);
  for (const auto& [name, value] : json.at("metrics").items()) {
    entry.metrics.push_back({name, value.get<double>()});
  }
  for (const auto& [key, value] : json.at("settings").items()) {
    entry.settings[key] = value.get<std::string>();
  }
  json.at("problem").get_to(entry.problem);
  entry.best = metrics::find_score(entry.metrics, entry.best_metric);
  return entry;
}

}  // namespace trainer::tracking
