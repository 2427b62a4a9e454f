// SPDX-License-Identifier: Apache-2.0
#include "trainer/model/gradient.h"

#include <cstdint>
#include <vector>

#include "trainer/device/timed_work.h"

namespace trainer::model {
namespace {

// A row for each member, as the outputs have. Not by repeat_interleave(), which on CUDA copies the
// number to the device and waits.
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
  forget_gradients(network.parameters());  // of a pass that memory ran out in
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
    // As the gradient of `loss`, not as a factor of it: that would be two operations more, and of a
    // 0-d product LibTorch 1.13 computes the gradient in float64, which MPS has not.
    loss.backward(o.scale);
    collect_gradients(network.parameters(), accumulate);
  }
  return {.outputs = outputs.detach(),
          .loss_sum = loss.detach(),
          .num_correct = num_correct(outputs.detach(), targets, o.loss)};
}

}  // namespace trainer::model
