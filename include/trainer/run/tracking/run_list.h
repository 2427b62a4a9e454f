// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "trainer/run/tracking/run_entry.h"

namespace trainer::tracking {

/// The format in which a list is written.
enum class ListFormat { kText, kJson, kCsv, kMarkdown };

/// Returns the full names (run/tracking/query.h) of the columns that people look at first: name,
/// state, epochs, best, time, and tag and note if any entry has one.
std::vector<std::string> usual_columns(std::span<const RunEntry> entries);

/// Returns a row for each entry, in their order, with a column for each full name. JSON and CSV
/// have all fields of the entries instead of these columns. `width` as for Document::text().
std::string list_text(std::span<const RunEntry> entries, const std::vector<std::string>& columns,
                      ListFormat format, std::size_t width = 0);

}  // namespace trainer::tracking
