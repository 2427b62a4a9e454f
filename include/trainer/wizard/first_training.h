// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

#include "trainer/wizard/first_config.h"

namespace trainer::wizard {

/// The time that `trainer init` allows for training unless told otherwise, in seconds.
inline constexpr double kDefaultTimeLimit = 600;

/// The time of an epoch of a configuration.
using EpochSeconds = std::function<double(const config::Config&)>;

/// Chooses the recipe for `num_train` rows: the most accurate one of which enough epochs fit into
/// `time_limit`, with a limit of its time (training.max_seconds) if not all of them do; else the
/// plain one, with sizes that fit the number of rows.
void choose_training(FirstConfig& first, int64_t num_train, const EpochSeconds& epoch_seconds,
                     double time_limit);

}  // namespace trainer::wizard
