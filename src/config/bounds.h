// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/config/fields.h"

/// The limits of numeric keys that several keys may share.
namespace trainer::config {

inline constexpr Bounds kAtLeast0{.min = 0, .above = {}, .max = {}, .below = {}};
inline constexpr Bounds kAtLeast1{.min = 1, .above = {}, .max = {}, .below = {}};
// Counts are limited so that sums and products of two do not overflow: epochs times steps, batch
// size times accumulation.
inline constexpr Bounds kCount0{.min = 0, .above = {}, .max = 1e9, .below = {}};
inline constexpr Bounds kCount1{.min = 1, .above = {}, .max = 1e9, .below = {}};
inline constexpr Bounds kPositive{.min = {}, .above = 0, .max = {}, .below = {}};
inline constexpr Bounds kFraction{.min = 0, .above = {}, .max = {}, .below = 1};
inline constexpr Bounds kPart{.min = {}, .above = 0, .max = {}, .below = 1};
inline constexpr Bounds kUnit{.min = 0, .above = {}, .max = 1, .below = {}};
inline constexpr Bounds kWidth{.min = 1, .above = {}, .max = 1 << 20, .below = {}};
inline constexpr Bounds kDepth{.min = 0, .above = {}, .max = 1000, .below = {}};
inline constexpr Bounds kEnsembleSize{.min = 1, .above = {}, .max = 256, .below = {}};
inline constexpr Bounds kBins{.min = 2, .above = {}, .max = 128, .below = {}};
inline constexpr Bounds kNumericEmbedding{.min = 1, .above = {}, .max = 64, .below = {}};
inline constexpr Bounds kEmbedding{.min = 0, .above = {}, .max = 1 << 12, .below = {}};
// Each cycle is twice as long as the one before.
inline constexpr Bounds kCycles{.min = 1, .above = {}, .max = 30, .below = {}};
inline constexpr Bounds kThreads{.min = 0, .above = {}, .max = 1024, .below = {}};
inline constexpr Bounds kMembers{.min = 1, .above = {}, .max = 1000, .below = {}};
inline constexpr Bounds kFolds{.min = 0, .above = {}, .max = 1000, .below = {}};
// The buffers of shard trees are allocated for this number of shards (base/parallel/shard_tree.h).
inline constexpr Bounds kShards{.min = 0, .above = {}, .max = 1 << 12, .below = {}};
inline constexpr Bounds kTimeoutSeconds{.min = {}, .above = 0, .max = 1e6, .below = {}};
inline constexpr Bounds kClasses{.min = 2, .above = {}, .max = 1000, .below = {}};

}  // namespace trainer::config
