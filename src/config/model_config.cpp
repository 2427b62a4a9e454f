// SPDX-License-Identifier: Apache-2.0
#include "trainer/config/model_config.h"

#include <cstddef>

namespace trainer::config {

std::vector<int64_t> hidden_sizes(const ModelConfig& model) {
  if (!model.hidden_sizes.empty()) return model.hidden_sizes;
  return std::vector<int64_t>(static_cast<std::size_t>(model.num_layers), model.hidden_size);
}

}  // namespace trainer::config
