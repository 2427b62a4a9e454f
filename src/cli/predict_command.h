// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "trainer/apply/predict.h"

#include "cli/arguments.h"

namespace trainer::cli {

/// `trainer predict RUN_OR_CHECKPOINT --data FILE --output FILE`: applies a model to each row of a
/// table. Returns the exit code: 0, or that of the signal that ended it. Throws Error.
int predict_command(const Arguments& arguments);

/// One line that shows how far a prediction is, at most `width` columns:
/// `1,234,567 rows  45 %  612,000 rows/s  2.4 s left`.
std::string predict_progress_text(const apply::PredictProgress& progress, double seconds,
                                  int width);

}  // namespace trainer::cli
