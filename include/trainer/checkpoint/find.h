// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace trainer::checkpoint {

/// The checkpoint file that the user means: a file; a run folder (its newest checkpoint, last.pt);
/// or the short form `<run>/best.pt` of `<run>/checkpoints/best.pt`.
/// Throws Error(kCheckpoint) that lists the checkpoints that are there.
std::filesystem::path find_checkpoint(const std::filesystem::path& given);

}  // namespace trainer::checkpoint
