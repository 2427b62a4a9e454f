// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "trainer/run/progress.h"

namespace trainer::cli {

/// One line that shows how far a run is, less than `width` columns:
/// `epoch 3/30 [#####-----]  45 %  12,345 samples/s  loss 0.1234  12.0 s left`. Where that is too
/// long, parts of it are left out, the time that is left last.
std::string progress_text(const run::Progress& progress, double seconds, int width);

/// Shows the progress of a run as a ProgressLine; the time starts with the first call.
run::ProgressListener make_progress_listener();

}  // namespace trainer::cli
