// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "trainer/run/progress.h"

namespace trainer::cli {

/// The first of `texts`, which are ASCII and get shorter, that leaves a column of `width` free: a
/// full line would wrap and could not be drawn again. The last one is cut where it must be.
std::string first_that_fits(const std::vector<std::string>& texts, int width);

/// One line that shows how far a run is, less than `width` columns:
/// `epoch 3/30 [#####-----]  45 %  12,345 samples/s  loss 0.1234  12.0 s left`. Where that is too
/// long, parts of it are left out, the time that is left last.
std::string progress_text(const run::Progress& progress, double seconds, int width);

/// Shows progress on standard error: a line drawn again at most ten times a second on a terminal,
/// a plain line every 30 seconds elsewhere.
run::ProgressListener make_progress_listener();

}  // namespace trainer::cli
