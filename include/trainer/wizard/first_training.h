// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "trainer/wizard/first_config.h"

namespace trainer::wizard {

/// The time that `trainer init` allows for training unless told otherwise, in seconds.
inline constexpr double kDefaultTimeLimit = 600;

/// Chooses the recipe for `num_train` rows: the most accurate one, with a limit of its time
/// (training.max_seconds) if it would take longer than `time_limit`; the plain one, with sizes that
/// fit the number of rows, if too few of its epochs would fit. `epoch_seconds` is the time of an
/// epoch of the recipe that `first` has.
void choose_training(FirstConfig& first, int64_t num_train, double epoch_seconds,
                     double time_limit);

}  // namespace trainer::wizard
