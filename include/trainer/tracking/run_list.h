// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "trainer/tracking/run_entry.h"

namespace trainer::tracking {

/// How a list is written.
enum class ListFormat { kText, kJson, kCsv, kMarkdown };

/// Full names (tracking/query.h) of the columns that people look at first: name, state, epochs,
/// best, time, tag, note, less those that no entry has.
std::vector<std::string> usual_columns(std::span<const RunEntry> entries);

/// A row for each entry, in their order, with a column for each full name. JSON and CSV have
/// everything of the entries instead of these columns. `width` as for Document::text().
std::string list_text(std::span<const RunEntry> entries, const std::vector<std::string>& columns,
                      ListFormat format, std::size_t width = 0);

}  // namespace trainer::tracking
