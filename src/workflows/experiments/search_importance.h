// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <vector>

#include "trainer/config/types.h"
#include "trainer/workflows/experiments/search.h"

#include "workflows/experiments/search_space.h"

namespace trainer::experiments {

/// Returns how much each searched key tells about the loss of a trial, for each recipe of which ten
/// trials or more were drawn, the most important key first. Their losses on the first fold are
/// ranked, because there trials that ended early have one too; one that failed is the last. The
/// rank of each trial is predicted from those of the others: by a parabola over a number (over its
/// logarithm if that was drawn), or by the mean of those with the same choice.
std::vector<KeyImportance> key_importance(
    const std::map<config::Recipe, std::vector<KeyRange>>& ranges,
    const std::vector<Trial>& trials);

}  // namespace trainer::experiments
