// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "trainer/run/checkpoint/checkpoint.h"

namespace trainer::checkpoint {

/// Compares two states bit for bit. Returns nothing if they are equal, else a sentence about the
/// first difference, such as "model layers.0.weight: element 5 is 0.25 and 0.26". Ignores what
/// differs between equal runs: the configuration (its text contains paths and origins), the length
/// of metrics.jsonl (its times have various lengths), the number of threads, and the paths of data
/// files.
std::optional<std::string> first_difference(const Checkpoint& a, const Checkpoint& b);

}  // namespace trainer::checkpoint
