// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/evaluate.h"

#include <algorithm>
#include <vector>

#include <ATen/ops/stack.h>
#include <c10/core/InferenceMode.h>

#include "trainer/core/stopwatch.h"

namespace trainer::train {

Evaluation evaluate(model::Mlp& model, const ResidentData& data, const model::LossOptions& loss) {
  // Fixed, so that the result does not depend on the batch size of the training.
  constexpr int64_t kBatchSize = 1024;
  const c10::InferenceMode no_autograd;
  const Stopwatch stopwatch;
  std::vector<at::Tensor> losses;
  std::vector<at::Tensor> correct;
  for (int64_t begin = 0; begin < data.size(); begin += kBatchSize) {
    const Batch batch = slice(data, begin, std::min(data.size(), begin + kBatchSize));
    const at::Tensor outputs = model.forward(batch.features, model::Mode::kInference);
    losses.push_back(model::loss_sum(outputs, batch.targets, loss));
    correct.push_back(model::num_correct(outputs, batch.targets, loss));
  }
  Evaluation result;
  result.num_samples = data.size();
  // Summed in double on the CPU; some accelerators have no double.
  result.loss = at::stack(losses).cpu().to(at::kDouble).sum().item<double>() /
                static_cast<double>(data.size());
  result.num_correct = at::stack(correct).cpu().sum().item<int64_t>();
  result.time_seconds = stopwatch.seconds();
  return result;
}

}  // namespace trainer::train
