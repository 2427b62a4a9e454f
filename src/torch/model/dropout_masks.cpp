// SPDX-License-Identifier: Apache-2.0
#include "trainer/torch/model/dropout_masks.h"

#include <algorithm>
#include <variant>

#include <ATen/ops/empty.h>

#include "trainer/nn/cpu/kernels.h"

namespace trainer::model {

std::size_t DropoutMasks::find(uint32_t stream) const {
  const auto found = std::find_if(layers_.begin(), layers_.end(),
                                  [&](const Layer& l) { return l.stream == stream; });
  return static_cast<std::size_t>(found - layers_.begin());
}

DropoutMasks::Layer& DropoutMasks::layer(uint32_t stream) {
  const std::size_t index = find(stream);
  if (index == layers_.size()) return layers_.emplace_back(Layer{.stream = stream});
  return layers_[index];
}

void DropoutMasks::draw(const network::NetworkSpec& network, const DropoutNoise& noise,
                        int64_t num_rows, c10::Device device, device::Uploads* uploads) {
  const int64_t num_members = network::num_members(network);
  const auto on_device = at::TensorOptions().device(device);
  int64_t num_columns = network.num_features;
  for (const network::Layer& any : network.layers) {
    if (const auto* linear = std::get_if<network::Linear>(&any)) num_columns = linear->num_outputs;
    const auto* dropout = std::get_if<network::Dropout>(&any);
    if (dropout == nullptr) continue;
    Layer& drawn = layer(dropout->stream);
    const std::vector<int64_t> shape = {num_rows * num_members, num_columns};
    if (!drawn.memory.defined() || drawn.memory.size(0) < shape[0]) {
      drawn.memory = at::empty(shape, on_device.dtype(at::kByte));
    }
    drawn.kept = drawn.memory.narrow(0, 0, shape[0]);
    const at::Tensor mask = device::upload_memory(shape, at::kByte, device);
    const double probability = dropout->probability * noise.dropout_factor;
    cpu::kernels().make_mask(
        {.seed = noise.seed, .layer = dropout->stream, .probability = probability},
        noise.first_row * num_members,
        {.num_rows = shape[0], .num_columns = num_columns, .stride = num_columns},
        mask.data_ptr<uint8_t>());
    device::upload(mask, drawn.kept, uploads);
    if (!drawn.scale.defined()) drawn.scale = at::empty({}, on_device.dtype(at::kFloat));
    if (probability != drawn.probability) {
      drawn.scale.fill_(1 / (1 - probability));
      drawn.probability = probability;
    }
  }
}

at::Tensor DropoutMasks::factors(const network::Dropout& layer, at::ScalarType dtype) const {
  const Layer& drawn = layers_[find(layer.stream)];
  return drawn.kept.mul(drawn.scale).to(dtype);
}

}  // namespace trainer::model
