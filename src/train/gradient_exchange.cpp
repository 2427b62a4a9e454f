// SPDX-License-Identifier: Apache-2.0
#include "train/gradient_exchange.h"

#include "trainer/distributed/device_reduction.h"

namespace trainer::train {

void share_on_cpu(SharedSums& shared, const dist::Division& division, model::FlatParameters& flat,
                  const std::vector<at::Tensor>& others) {
  std::vector<at::Tensor> on_cpu = {flat.gradients.cpu()};
  for (const at::Tensor& other : others) on_cpu.push_back(other.cpu());
  std::vector<float*> subtrees;
  subtrees.reserve(on_cpu.size());
  for (const at::Tensor& gradient : on_cpu) subtrees.push_back(gradient.data_ptr<float>());
  subtrees.resize(division.my_subtrees().size());
  shared.start_gradients(subtrees, flat.num_trained, on_cpu.front().data_ptr<float>());
  shared.finish_gradients();
  flat.gradients.copy_(on_cpu.front());
}

void share_on_device(dist::World& world, const dist::Division& division,
                     const model::FlatParameters& flat, const std::vector<at::Tensor>& others) {
  std::vector<at::Tensor> subtrees = {trained_range(flat, flat.gradients)};
  for (const at::Tensor& other : others) subtrees.push_back(trained_range(flat, other));
  subtrees.resize(division.my_subtrees().size());
  dist::sum_on_device(division, world.all_to_all(), subtrees, trained_range(flat, flat.gradients));
}

}  // namespace trainer::train
