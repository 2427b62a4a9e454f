// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "trainer/checkpoint/checkpoint.h"

namespace trainer::checkpoint {

/// Nothing when both states are the same to the bit, else a sentence on the first place where they
/// differ: "model layers.0.weight: element 5 is 0.25 and 0.26". Not compared is what differs
/// between equal runs: the configuration (its text holds paths and origins), the length of
/// metrics.jsonl (its times have various lengths), and the paths of data files.
std::optional<std::string> first_difference(const Checkpoint& a, const Checkpoint& b);

}  // namespace trainer::checkpoint
