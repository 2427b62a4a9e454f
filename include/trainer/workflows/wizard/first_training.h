// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

#include "trainer/workflows/wizard/first_config.h"

namespace trainer::wizard {

/// The default time limit of training for `trainer init`, in seconds.
inline constexpr double kDefaultTimeLimit = 600;

/// Estimates the seconds that one epoch of a configuration takes on this machine.
using EpochSeconds = std::function<double(const config::Config&)>;

/// Chooses the recipe for `num_train` rows: the most accurate one for which enough epochs fit into
/// `time_limit` (seconds), with training.max_seconds set if not all of its epochs fit; else the
/// plain recipe, with sizes and epochs that suit the number of rows.
void choose_training(FirstConfig& first, int64_t num_train, const EpochSeconds& epoch_seconds,
                     double time_limit);

}  // namespace trainer::wizard
