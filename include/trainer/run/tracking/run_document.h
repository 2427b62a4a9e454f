// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/base/text/document.h"
#include "trainer/run/tracking/run_entry.h"

namespace trainer::tracking {

/// Returns everything about one run: what happened, which keys are not the defaults, and the
/// metrics of each split. The JSON also has all fields of the entry, its starts and its epochs.
Document run_document(const RunEntry& entry);

}  // namespace trainer::tracking
