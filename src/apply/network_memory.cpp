// SPDX-License-Identifier: Apache-2.0
#include "apply/network_memory.h"

#include <variant>

namespace trainer::apply {

std::vector<cpu::TensorMemory> tensor_memory(const Member& member) {
  std::vector<cpu::TensorMemory> tensors;
  tensors.reserve(member.weights.size());
  for (const checkpoint::NamedTensor& weight : member.weights) {
    tensors.push_back({.value = float_values(weight.tensor), .update = nullptr});
  }
  return tensors;
}

cpu::GatherSource gather_source(const data::Matrix& features, const data::Scaling& scaling) {
  cpu::GatherSource source;
  if (const auto* bytes = std::get_if<Array<uint8_t>>(&features.values)) {
    source.bytes = bytes->data();
  } else {
    source.floats = std::get<Array<float>>(features.values).data();
  }
  source.num_features = features.num_columns;
  source.shift = scaling.shift.data();
  source.scale = scaling.scale.data();
  if (!scaling.inverse_limit.empty()) source.inverse_limit = scaling.inverse_limit.data();
  return source;
}

}  // namespace trainer::apply
