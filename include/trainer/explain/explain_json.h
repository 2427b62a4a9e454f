// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include <nlohmann/json_fwd.hpp>

#include "trainer/explain/contributions.h"
#include "trainer/explain/importance.h"
#include "trainer/explain/partial_dependence.h"

/// Explanations as JSON, with nothing left out. What is not finite is null.
namespace trainer::explain {

/// {"metric", "score", "baseline", "rows", "repeats", "seed", "columns": [{"column", "importance",
/// "std", "within_noise"}]}.
nlohmann::ordered_json to_json(const Importance& importance, std::span<const ColumnGroup> groups);

/// {"predictions": [name], "columns": [{"column", "kind", "more_categories", "points": [{"cell",
/// "value", "share", "means": [number]}]}]}.
nlohmann::ordered_json to_json(std::span<const PartialDependence> all, const data::Schema& schema);

/// {"prediction", "baseline", "outputs": [{"output", "at_baseline", "at_row", "steps", "error",
/// "adds_up", "contributions": [{"column", "cell", "contribution"}]}]}.
nlohmann::ordered_json to_json(const Contributions& found, std::span<const ColumnGroup> groups);

}  // namespace trainer::explain
