// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <vector>

#include "trainer/checkpoint/checkpoint.h"

namespace trainer::checkpoint {

/// The weights in a checkpoint of this program, or in a file that Python wrote with
/// `torch.save(model.state_dict(), path)`; there the state dict may also stand in a dict under
/// "model", "state_dict" or "model_state_dict". Or those in a safetensors file. Names that
/// `nn.Sequential` gives ("0.weight", "1.running_mean") are turned into those of this program by
/// their order: a two-dimensional weight begins the next layer, a one-dimensional one is the norm
/// of the layer before it. The counters `num_batches_tracked` are left out. Throws
/// Error(kCheckpoint) for an unreadable file and one without a state dict.
std::vector<NamedTensor> read_weights(const std::filesystem::path& path);

}  // namespace trainer::checkpoint
