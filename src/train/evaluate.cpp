// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/evaluate.h"

#include <algorithm>
#include <exception>
#include <numeric>
#include <span>
#include <vector>

#include <ATen/ops/cat.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>
#include <c10/core/InferenceMode.h>

#include "trainer/core/stopwatch.h"
#include "trainer/device/memory.h"

namespace trainer::train {

namespace {

/// What the rows [begin, end) of a split give, in batches.
struct Batches {
  std::vector<at::Tensor> losses;  // 0-d, of each batch
  std::vector<at::Tensor> correct;
  std::vector<at::Tensor> outputs;

  void evaluate(const model::Network& model, const ResidentData& data,
                const model::LossOptions& loss, int64_t begin, int64_t end, int64_t batch_size);
};

void Batches::evaluate(const model::Network& model, const ResidentData& data,
                       const model::LossOptions& loss, int64_t begin, int64_t end,
                       int64_t batch_size) {
  while (begin < end) {
    const int64_t batch_end = std::min(end, begin + batch_size);
    try {
      const Batch batch = slice(data, begin, batch_end);
      const at::Tensor batch_outputs = model.forward(batch.features, model::Mode::kInference);
      const at::Tensor loss_sum = model::loss_sum(batch_outputs, batch.targets, loss);
      correct.push_back(model::num_correct(batch_outputs, batch.targets, loss));
      outputs.push_back(batch_outputs);
      losses.push_back(loss_sum);
      begin = batch_end;
    } catch (const std::exception& e) {
      if (!device::is_out_of_memory(e) || batch_size == 1) throw;
      device::release_cached_memory(data.features.device());
      batch_size = (batch_size + 1) / 2;
    }
  }
}

template <class Value>
void copy_to(const at::Tensor& values, Value* to) {
  std::copy_n(values.data_ptr<Value>(), values.numel(), to);
}

}  // namespace

Evaluation evaluate(const model::Network& model, const ResidentData& data,
                    const model::LossOptions& loss, const dist::World& world) {
  // Fixed, so that the result does not depend on the training batch size. Each process takes some
  // of the batches.
  constexpr int64_t kBatchSize = 1024;
  const int64_t num_batches = (data.size() + kBatchSize - 1) / kBatchSize;
  const auto first_batch = [&](int64_t rank) { return num_batches * rank / world.size(); };
  const auto first_row = [&](int64_t rank) {
    return std::min(data.size(), first_batch(rank) * kBatchSize);
  };
  const int64_t begin = first_row(world.rank());
  const c10::InferenceMode no_autograd;
  const Stopwatch stopwatch;
  Batches mine;
  for (int64_t row = begin; row < first_row(world.rank() + 1); row += kBatchSize) {
    const int64_t end = std::min(data.size(), row + kBatchSize);
    const std::size_t count = mine.losses.size();
    mine.evaluate(model, data, loss, row, end, kBatchSize);
    if (mine.losses.size() == count + 1) continue;
    // In smaller ones, because memory ran out.
    const auto join = [&](std::vector<at::Tensor>& sums) {
      const at::Tensor sum = at::stack(at::TensorList(sums).slice(count)).sum();
      sums.resize(count);
      sums.push_back(sum);
    };
    join(mine.losses);
    join(mine.correct);
  }
  const int64_t width = model.spec().num_outputs;
  Evaluation result;
  result.num_samples = data.size();
  result.outputs.resize(static_cast<std::size_t>(data.size() * width));
  std::vector<float> losses(static_cast<std::size_t>(num_batches));
  std::vector<int64_t> correct(losses.size());
  if (!mine.losses.empty()) {
    const int64_t first = first_batch(world.rank());
    copy_to(at::stack(mine.losses).cpu(), losses.data() + first);
    copy_to(at::stack(mine.correct).cpu(), correct.data() + first);
    copy_to(at::cat(mine.outputs).cpu().contiguous(), result.outputs.data() + begin * width);
  }
  const auto gather = [&](auto& values, const auto& first_of) {
    std::vector<std::size_t> begins;
    for (int64_t r = 0; r <= world.size(); ++r) {
      begins.push_back(static_cast<std::size_t>(first_of(r)) * sizeof(values[0]));
    }
    world.gather_parts(std::as_writable_bytes(std::span(values)), begins);
  };
  gather(losses, first_batch);
  gather(correct, first_batch);
  gather(result.outputs, [&](int64_t rank) { return first_row(rank) * width; });
  result.loss =
      at::tensor(losses).to(at::kDouble).sum().item<double>() / static_cast<double>(data.size());
  result.num_correct = std::accumulate(correct.begin(), correct.end(), int64_t{0});
  result.time_seconds = stopwatch.seconds();
  return result;
}

}  // namespace trainer::train
