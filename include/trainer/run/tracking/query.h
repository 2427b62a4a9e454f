// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trainer/base/text/condition.h"
#include "trainer/run/tracking/run_entry.h"

// Runs are filtered and sorted by names: those of fields of an entry (name, kind, state, tag, note,
// started, time, epochs, best), of metrics with their split ("val.log_loss", "test.accuracy"), and
// of configuration keys ("training.learning_rate"; what comes before one of its dots may be left
// out if the rest is unambiguous).
namespace trainer::tracking {

/// Returns all full names that can be used in a list of `entries`.
std::vector<std::string> full_names(std::span<const RunEntry> entries);

/// Returns the full form of `name` in a list of `entries`. Throws Error(kUsage), with the nearest
/// name, for a name that no entry has, or that several keys end in.
std::string full_name(std::string_view name, std::span<const RunEntry> entries);

/// Returns the value of an entry under a full name; nothing if it has none, as for an absent
/// metric.
std::optional<Value> value_of(const RunEntry& entry, const std::string& full_name);

/// Returns the value as people read it, such as "97.78 %" or "3 min 05 s"; "-" if there is none.
std::string shown_value(const RunEntry& entry, const std::string& full_name);

/// Returns the entries for which the condition `expression` is true (parse_condition()), in their
/// order: "val.accuracy>0.9 and tag=fashion". `time` is compared as a duration, `started` as text.
/// Throws Error(kUsage) with the part that is wrong.
std::vector<RunEntry> filtered(std::vector<RunEntry> entries, const std::string& expression);

/// Sorts by `name`: metrics with the best first, other values with the smallest first; "-name"
/// reverses that. Entries without a value come last. Throws the errors of full_name(), and
/// Error(kUsage) if the entries' best values are of different metrics.
void sort_entries(std::vector<RunEntry>& entries, const std::string& name);

}  // namespace trainer::tracking
