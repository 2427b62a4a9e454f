// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "trainer/tracking/run_entry.h"

namespace trainer::tracking {

/// Everything about one run, for people: what happened, which keys are not the defaults, and the
/// metrics of each split.
std::string run_text(const RunEntry& entry);

/// An object with everything of the entry, its starts, and its epochs.
std::string run_json(const RunEntry& entry);

}  // namespace trainer::tracking
