// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <vector>

#include "trainer/checkpoint/checkpoint.h"
#include "trainer/network/spec.h"

namespace trainer::checkpoint {

/// The weights in a checkpoint of this program, or in a file that Python wrote with
/// `torch.save(model.state_dict(), path)`; there the state dict may also stand in a dict under
/// "model", "state_dict" or "model_state_dict". Or those in a safetensors file. Names that
/// `nn.Sequential` gives ("0.weight", "1.running_mean") are turned into those of `network` by their
/// order: a two-dimensional weight is that of its next linear layer, a one-dimensional one that of
/// its next norm. The counters `num_batches_tracked` are left out. Throws Error(kCheckpoint) for an
/// unreadable file and one without a state dict.
std::vector<NamedTensor> read_weights(const std::filesystem::path& path,
                                      const network::NetworkSpec& network);

}  // namespace trainer::checkpoint
