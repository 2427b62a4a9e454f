// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/experiments/runs.h"

#include "cli/common_options.h"

namespace trainer::cli {

/// Trains one run of several: its progress is shown, its messages are in its train.log.
experiments::RunOutcome train_one_of_several(const CommonOptions& common,
                                             const experiments::RunJob& job);

}  // namespace trainer::cli
