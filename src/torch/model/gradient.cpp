// SPDX-License-Identifier: Apache-2.0
#include "trainer/torch/model/gradient.h"

#include <cstdint>
#include <vector>

#include "trainer/torch/device/threads.h"

namespace trainer::model {
namespace {

// Repeats each row for all members, as in the outputs. Does not use repeat_interleave(), which on
// CUDA copies the number to the device and waits.
Targets repeated(const Targets& targets, int64_t num_members) {
  if (num_members == 1) return targets;
  const auto repeat = [&](const at::Tensor& tensor) {
    if (!tensor.defined()) return tensor;
    std::vector<int64_t> sizes = tensor.sizes().vec();
    sizes.insert(sizes.begin() + 1, num_members);
    return tensor.unsqueeze(1).expand(sizes).flatten(0, 1);
  };
  return {repeat(targets.values), repeat(targets.weights)};
}

}  // namespace

BatchResult compute_gradient(Network& network, const Objective& o, Accumulate accumulate) {
  forget_gradients(network.parameters());  // left by a pass in which memory ran out
  const int64_t num_members = network::num_members(network.spec());
  const Targets targets = repeated(o.targets, num_members);
  const at::Tensor outputs = network.forward(o.features, Mode::kTraining, o.noise);
  const c10::Device device = outputs.device();
  at::Tensor loss;
  {
    const device::TimedDeviceWork timed(device, Work::kLoss);
    loss = loss_sum(outputs, targets, o.loss);
    if (num_members > 1) loss = divided(loss, static_cast<double>(num_members));
  }
  {
    const device::TimedDeviceWork timed(device, Work::kBackward);
    // The scale is passed as the gradient of `loss` instead of multiplying the loss: that would be
    // two more operations, and LibTorch 1.13 computes the gradient of a 0-d product in float64,
    // which MPS does not support.
    loss.backward(o.scale);
    collect_gradients(network.parameters(), accumulate);
  }
  return {.outputs = outputs.detach(),
          .loss_sum = loss.detach(),
          .num_correct = num_correct(outputs.detach(), targets, o.loss)};
}

}  // namespace trainer::model
