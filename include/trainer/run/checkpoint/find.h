// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace trainer::checkpoint {

/// Finds the checkpoint file that a user has given: a file; a run folder (its newest checkpoint,
/// last.pt); or the short form `<run>/best.pt` of `<run>/checkpoints/best.pt`. If there is none,
/// throws Error(kCheckpoint), which lists the available checkpoints.
std::filesystem::path find_checkpoint(const std::filesystem::path& given);

}  // namespace trainer::checkpoint
