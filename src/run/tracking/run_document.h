// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "trainer/base/text/json.h"
#include "trainer/run/tracking/run_entry.h"

namespace trainer::tracking {

/// The file of an output folder with the entries of its runs.
inline constexpr const char* kIndexFile = ".runs.json";

/// Returns all fields of an entry, except `best`, which follows from the metrics.
Json to_json(const RunEntry& entry);

/// Returns the entry of `folder` from the result of to_json(). Throws Error(kCheckpoint) if a value
/// has another type.
RunEntry from_json(const JsonReader& json, const std::filesystem::path& folder);

}  // namespace trainer::tracking
