// SPDX-License-Identifier: Apache-2.0
#include "trainer/explain/explain_json.h"

#include <cstddef>
#include <utility>

#include "trainer/core/json.h"

namespace trainer::explain {

Json to_json(const Importance& importance, std::span<const ColumnGroup> groups) {
  Json json = {{"metric", trainer::to_text(importance.options.metric)},
               {"score", importance.score},
               {"baseline", nullptr},
               {"rows", importance.num_rows},
               {"repeats", importance.options.repeats},
               {"seed", importance.options.seed},
               {"columns", Json::array()}};
  if (importance.baseline) json["baseline"] = *importance.baseline;
  for (const ColumnImportance& column : importance.columns) {
    json["columns"].push_back({{"column", groups[column.group].name},
                               {"importance", column.mean},
                               {"std", column.deviation},
                               {"within_noise", column.is_noise()}});
  }
  return json;
}

Json to_json(std::span<const PartialDependence> all, const data::Schema& schema) {
  Json json = {{"predictions", prediction_names(schema)}, {"columns", Json::array()}};
  for (const PartialDependence& dependence : all) {
    Json points = Json::array();
    for (const DependencePoint& point : dependence.points) {
      Json added = {{"cell", point.text}, {"share", point.share}, {"means", point.means}};
      if (point.value) added["value"] = *point.value;
      points.push_back(std::move(added));
    }
    json["columns"].push_back({{"column", dependence.column},
                               {"kind", dependence.is_numeric ? "numeric" : "categorical"},
                               {"more_categories", dependence.num_more},
                               {"points", std::move(points)}});
  }
  return json;
}

Json to_json(const Contributions& found, std::span<const ColumnGroup> groups) {
  Json json = {
      {"prediction", found.prediction}, {"baseline", found.baseline}, {"outputs", Json::array()}};
  for (const ExplainedOutput& output : found.outputs) {
    Json contributions = Json::array();
    for (std::size_t i = 0; i < groups.size(); ++i) {
      contributions.push_back({{"column", groups[i].name},
                               {"cell", found.cells[i]},
                               {"contribution", output.contributions[i]}});
    }
    json["outputs"].push_back({{"output", output.name},
                               {"at_baseline", output.at_baseline},
                               {"at_row", output.at_row},
                               {"steps", output.num_steps},
                               {"error", output.error},
                               {"adds_up", output.adds_up},
                               {"contributions", std::move(contributions)}});
  }
  return json;
}

}  // namespace trainer::explain
