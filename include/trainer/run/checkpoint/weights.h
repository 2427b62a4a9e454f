// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <vector>

#include "trainer/nn/spec/spec.h"
#include "trainer/run/checkpoint/checkpoint.h"

namespace trainer::checkpoint {

/// Reads the weights of a checkpoint of this program, of a safetensors file, or of a file that
/// Python wrote with `torch.save(model.state_dict(), path)`; there the state dict may also be in a
/// dict under "model", "state_dict" or "model_state_dict". Names of `nn.Sequential` ("0.weight",
/// "1.running_mean") are replaced by those of `network`, by their order: a two-dimensional weight
/// belongs to the next linear layer, a one-dimensional weight to the next norm. The counters
/// `num_batches_tracked` are ignored. Throws Error(kCheckpoint) for an unreadable file and one
/// without a state dict.
std::vector<NamedTensor> read_weights(const std::filesystem::path& path,
                                      const network::NetworkSpec& network);

}  // namespace trainer::checkpoint
