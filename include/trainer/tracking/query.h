// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "trainer/tracking/run_entry.h"

// Runs are chosen and ordered by names: those of an entry (name, kind, state, tag, note, started,
// time, epochs, best), of metrics with their split ("val.log_loss", "test.accuracy"), of
// configuration keys ("training.learning_rate", also without what comes before the last dots where
// that is clear).
namespace trainer::tracking {

/// A number where the text is one.
using Value = std::variant<double, std::string>;

/// All full names in a list of `entries`.
std::vector<std::string> full_names(std::span<const RunEntry> entries);

/// The full form of `name` in a list of `entries`. Throws Error(kUsage), with the nearest name, for
/// one that nothing has, or that several keys have.
std::string full_name(std::string_view name, std::span<const RunEntry> entries);

/// What an entry has under a full name; nothing, for example, for a metric that it has not.
std::optional<Value> value_of(const RunEntry& entry, const std::string& full_name);

/// The value as people read it: "97.78 %", "3 min 05 s"; "-" for nothing.
std::string shown_value(const RunEntry& entry, const std::string& full_name);

/// The entries for which `expression` is true, in their order: comparisons (=, !=, <, <=, >, >=,
/// and ~ for "contains"), joined by and, or, not and parentheses: "val.accuracy>0.9 and
/// tag=fashion". Numbers are compared as numbers, times as text. A comparison with what an entry
/// has not is false. Throws Error(kUsage) with the place of what is wrong.
std::vector<RunEntry> filtered(std::vector<RunEntry> entries, const std::string& expression);

/// Sorts by `name`: metrics with the best first, other values with the smallest first; "-name" the
/// other way round. Entries without it come last. Throws as full_name().
void sort_entries(std::vector<RunEntry>& entries, const std::string& name);

}  // namespace trainer::tracking
