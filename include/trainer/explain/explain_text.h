// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "trainer/explain/contributions.h"
#include "trainer/explain/importance.h"
#include "trainer/explain/partial_dependence.h"

/// Explanations for people to read. Lines end with line breaks; what is left out of a table is said
/// under it.
namespace trainer::explain {

/// The metric, how importance is measured, and a table of the columns with a bar each.
std::string importance_text(const Importance& importance, std::span<const ColumnGroup> groups);

/// A table of values, the rows that have them and mean predictions; of many classes, those that
/// change most.
std::string dependence_text(const PartialDependence& dependence, const data::Schema& schema);

/// What is explained, and a table of the columns with a bar each for each output.
std::string contributions_text(const Contributions& found, std::span<const ColumnGroup> groups);

}  // namespace trainer::explain
