// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "trainer/core/json_reader.h"
#include "trainer/tracking/run_entry.h"

namespace trainer::tracking {

/// Everything of an entry.
Json to_json(const RunEntry& entry);

/// The entry of `folder` from what to_json() has made. Throws Error(kCheckpoint) for anything else.
RunEntry from_json(const JsonReader& json, const std::filesystem::path& folder);

}  // namespace trainer::tracking
