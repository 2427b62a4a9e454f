// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/evaluate.h"

#include <algorithm>
#include <exception>
#include <vector>

#include <ATen/ops/cat.h>
#include <ATen/ops/stack.h>
#include <c10/core/InferenceMode.h>

#include "trainer/core/stopwatch.h"
#include "trainer/device/memory.h"

namespace trainer::train {

Evaluation evaluate(const model::Network& model, const ResidentData& data,
                    const model::LossOptions& loss) {
  // Fixed, so that the result does not depend on the training batch size.
  constexpr int64_t kBatchSize = 1024;
  int64_t batch_size = kBatchSize;
  const c10::InferenceMode no_autograd;
  const Stopwatch stopwatch;
  std::vector<at::Tensor> losses;
  std::vector<at::Tensor> correct;
  std::vector<at::Tensor> outputs_of_batches;
  for (int64_t begin = 0; begin < data.size();) {
    const int64_t end = std::min(data.size(), begin + batch_size);
    try {
      const Batch batch = slice(data, begin, end);
      const at::Tensor outputs = model.forward(batch.features, model::Mode::kInference);
      const at::Tensor loss_sum = model::loss_sum(outputs, batch.targets, loss);
      correct.push_back(model::num_correct(outputs, batch.targets, loss));
      outputs_of_batches.push_back(outputs);
      losses.push_back(loss_sum);
      begin = end;
    } catch (const std::exception& e) {
      if (!device::is_out_of_memory(e) || batch_size == 1) throw;
      device::release_cached_memory(data.features.device());
      batch_size = (batch_size + 1) / 2;
    }
  }
  Evaluation result;
  result.num_samples = data.size();
  // Summed in double on the CPU; some accelerators have no double.
  result.loss = at::stack(losses).cpu().to(at::kDouble).sum().item<double>() /
                static_cast<double>(data.size());
  result.num_correct = at::stack(correct).cpu().sum().item<int64_t>();
  const at::Tensor outputs = at::cat(outputs_of_batches).cpu().contiguous();
  result.outputs.assign(outputs.data_ptr<float>(), outputs.data_ptr<float>() + outputs.numel());
  result.time_seconds = stopwatch.seconds();
  return result;
}

}  // namespace trainer::train
