// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "trainer/run/progress.h"

namespace trainer::cli {

/// One line that shows how far a run is, at most `width` columns:
/// `epoch 3/30 [#####-----]  45 %  12,345 samples/s  loss 0.1234  12.0 s left`.
std::string progress_text(const run::Progress& progress, double seconds, int width);

/// Shows progress on standard error: a line drawn again at most ten times a second on a terminal,
/// a plain line every 30 seconds elsewhere.
run::ProgressListener make_progress_listener();

}  // namespace trainer::cli
