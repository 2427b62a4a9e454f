// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace trainer::data {

/// The order in which an epoch visits the samples: a permutation of 0 .. num_samples-1 that is a
/// pure function of its arguments, the same on every platform. Nothing but the position in it has
/// to be saved to continue an epoch.
std::vector<int64_t> epoch_order(int64_t num_samples, uint64_t seed, int64_t epoch);

}  // namespace trainer::data
