// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trainer/config/load.h"
#include "trainer/config/types.h"
#include "trainer/workflows/experiments/search.h"

namespace trainer::experiments {

/// How the values of a key are drawn.
enum class Draw { kUniform, kLog, kInt, kChoice };

/// A key of a space, parsed. Numbers are drawn between `low` and `high`; of choices, each is
/// equally likely.
struct KeyRange : SpaceKey {
  Draw draw = Draw::kChoice;
  double low = 0;
  double high = 0;
  std::vector<std::string> choices = {};
};

/// Parses "log(1e-4,1e-1)", "uniform(0,0.5)", "int(1,4)" or "choice(relu,gelu)", whose elements may
/// be lists. Throws Error(kUsage) if `range` is none of these.
KeyRange parse_range(const SpaceKey& range);

/// The ranges of a space. Throws Error(kUsage) for a key that is not known, is given twice, or
/// changes the data, which all members of an ensemble share.
std::vector<KeyRange> parse_space(const std::vector<SpaceKey>& space);

/// The keys that are searched where the user names none; `epochs` is what the configuration has.
std::vector<SpaceKey> default_space(config::Recipe recipe, int64_t epochs);

/// The settings of trial `number`. They are a function of the arguments.
std::vector<config::Override> draw_trial(const std::vector<KeyRange>& space, uint64_t seed,
                                         int64_t number);

/// Settings at the ends of all ranges and with each choice, which a configuration has to accept.
std::vector<config::Override> extreme_settings(const std::vector<KeyRange>& space);

}  // namespace trainer::experiments
