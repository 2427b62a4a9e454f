// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "trainer/run/folder/progress.h"

namespace trainer::cli {

/// Returns the progress of a run in less than `width` columns: `epoch 3/30 [#####-----]  45 %
/// 12,345 samples/s  loss 0.1234  12.0 s left`. If that is too long, parts are omitted, the
/// remaining time last. `seconds` is the time since the start.
std::string progress_text(const run::Progress& progress, double seconds, int width);

/// Returns a listener that shows the progress of a run as a ProgressLine. The time starts at its
/// first call.
run::ProgressListener make_progress_listener();

}  // namespace trainer::cli
