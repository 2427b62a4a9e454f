// SPDX-License-Identifier: Apache-2.0
#include "trainer/model/gradient.h"

namespace trainer::model {

BatchResult add_gradient(const Network& network, const Objective& o) {
  const at::Tensor outputs = network.forward(o.features, Mode::kTraining, o.noise);
  const at::Tensor loss = loss_sum(outputs, o.targets, o.loss);
  loss.mul(o.scale).backward();
  return {outputs.detach(), loss.detach()};
}

}  // namespace trainer::model
