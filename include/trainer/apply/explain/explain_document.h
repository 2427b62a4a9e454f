// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "trainer/apply/explain/contributions.h"
#include "trainer/apply/explain/explained_rows.h"
#include "trainer/apply/explain/importance.h"
#include "trainer/apply/explain/partial_dependence.h"
#include "trainer/base/text/document.h"
#include "trainer/table/dataset.h"

/// Explanations as documents for people and programs. A note below a table says what the text
/// leaves out; the JSON is complete, with null for numbers that are not finite.
namespace trainer::explain {

/// The metric, how importance is measured, and a table of the columns with a bar each. The JSON is
/// {"metric", "score", "baseline", "rows", "repeats", "seed", "columns": [{"column", "importance",
/// "std", "within_noise"}]}.
Document importance_document(const Importance& importance, std::span<const ColumnGroup> groups);

/// A table for each column: its values, the share of rows that have them and the mean predictions;
/// with many classes, only those that change most. The JSON is "partial_dependence":
/// {"predictions": [name], "columns": [{"column", "kind", "more_categories", "points": [{"cell",
/// "value", "share", "means": [number]}]}]}.
Document dependence_document(std::span<const PartialDependence> all, const data::Schema& schema);

/// What is explained, and for each output a table of the columns with a bar each, those that
/// contribute most first. The JSON is {"prediction", "baseline", "outputs": [{"output",
/// "at_baseline", "at_row", "steps", "error", "adds_up", "contributions": [{"column", "cell",
/// "contribution"}]}]}, in the order of the columns.
Document contributions_document(const Contributions& found, std::span<const ColumnGroup> groups);

}  // namespace trainer::explain
