// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/evaluate.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <exception>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include <ATen/ops/cat.h>
#include <ATen/ops/tensor.h>
#include <c10/core/InferenceMode.h>

#include "trainer/base/time/stopwatch.h"
#include "trainer/torch/device/memory.h"

#include "train/evaluate.h"

namespace trainer::train {

namespace {

/// Sums of loss and correct predictions over the samples of a batch.
struct BatchSums {
  float loss = 0;
  int64_t num_correct = 0;
};

// Evaluates the rows [begin, end) of a split and writes their outputs to `outputs`. The results are
// copied to the CPU immediately, so that the device needs memory for a single batch only.
BatchSums evaluate_rows(const model::Network& model, const ResidentData& data,
                        const model::LossOptions& loss, int64_t begin, int64_t end,
                        float* outputs) {
  const Batch batch = slice(data, begin, end);
  const at::Tensor on_device = model.forward(batch.features, model::Mode::kInference);
  const at::Tensor loss_sum = model::loss_sum(on_device, batch.targets, loss);
  const at::Tensor correct = model::num_correct(on_device, batch.targets, loss);
  // All results are read together, so that the host waits only once.
  std::vector<at::Tensor> parts = {on_device.flatten(), loss_sum.view(1)};
  if (correct.defined()) parts.push_back(correct.view(1));
  const at::Tensor read = at::cat(parts).cpu();
  const auto* values = read.data_ptr<float>();
  const int64_t size = on_device.numel();
  std::copy_n(values, size, outputs);
  const float num_correct = correct.defined() ? values[size + 1] : 0;
  if (!std::isfinite(num_correct)) return {NAN, 0};  // from a broken device, as such a loss is
  return {values[size], static_cast<int64_t>(num_correct)};
}

// Evaluates the rows [begin, end), in smaller batches if memory runs out.
BatchSums evaluate_batch(const model::Network& model, const ResidentData& data,
                         const model::LossOptions& loss, int64_t begin, int64_t end,
                         float* outputs) {
  BatchSums sums;
  int64_t batch_size = end - begin;
  while (begin < end) {
    const int64_t batch_end = std::min(end, begin + batch_size);
    try {
      const BatchSums batch = evaluate_rows(model, data, loss, begin, batch_end, outputs);
      sums.num_correct += batch.num_correct;
      sums.loss += batch.loss;
      outputs += (batch_end - begin) * model.spec().num_outputs;
      begin = batch_end;
    } catch (const std::exception& e) {
      if (!device::is_out_of_memory(e) || batch_size == 1) throw;
      device::release_cached_memory(data.features.device());
      batch_size = (batch_size + 1) / 2;
    }
  }
  return sums;
}

}  // namespace

Evaluation evaluate(const model::Network& model, const ResidentData& data,
                    const model::LossOptions& loss, const dist::World& world) {
  // The size is fixed, so that the result does not depend on the training batch size. Each process
  // computes some of the batches.
  constexpr int64_t kBatchSize = 1024;
  const int64_t num_batches = (data.size() + kBatchSize - 1) / kBatchSize;
  const auto first_batch = [&](int64_t rank) { return num_batches * rank / world.size(); };
  const auto first_row = [&](int64_t rank) {
    return std::min(data.size(), first_batch(rank) * kBatchSize);
  };
  const c10::InferenceMode no_autograd;
  const Stopwatch stopwatch;
  const int64_t width = model.spec().num_outputs;
  Evaluation result;
  result.num_samples = data.size();
  result.outputs.resize(static_cast<std::size_t>(data.size() * width));
  std::vector<float> losses(static_cast<std::size_t>(num_batches));
  std::vector<int64_t> correct(losses.size());
  for (int64_t i = first_batch(world.rank()); i < first_batch(world.rank() + 1); ++i) {
    const int64_t begin = i * kBatchSize;
    const BatchSums sums =
        evaluate_batch(model, data, loss, begin, std::min(data.size(), begin + kBatchSize),
                       result.outputs.data() + begin * width);
    losses[static_cast<std::size_t>(i)] = sums.loss;
    correct[static_cast<std::size_t>(i)] = sums.num_correct;
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

EvaluatedRows::EvaluatedRows(int64_t num_rows, int64_t num_outputs, const dist::World& world)
    : num_rows_(num_rows),
      num_outputs_(num_outputs),
      world_(world),
      outputs_(static_cast<std::size_t>(num_rows * num_outputs)),
      losses_(static_cast<std::size_t>(num_rows)),
      correct_(losses_.size()) {}

void EvaluatedRows::set(int64_t row, float loss, int32_t is_correct) {
  losses_[static_cast<std::size_t>(row)] = loss;
  correct_[static_cast<std::size_t>(row)] = is_correct != 0 ? 1 : 0;
}

template <class Value>
void EvaluatedRows::gather(std::vector<Value>& values, int64_t width) const {
  std::vector<std::size_t> begins;
  for (int64_t r = 0; r <= world_.size(); ++r) {
    begins.push_back(static_cast<std::size_t>(begin_of(r) * width) * sizeof(Value));
  }
  world_.gather_parts(std::as_writable_bytes(std::span(values)), begins);
}

Evaluation EvaluatedRows::gather() {
  gather(outputs_, num_outputs_);
  gather(losses_, 1);
  gather(correct_, 1);
  Evaluation result;
  double loss = 0;
  for (std::size_t i = 0; i < losses_.size(); ++i) {
    loss += static_cast<double>(losses_[i]);
    result.num_correct += correct_[i];
  }
  result.num_samples = num_rows_;
  result.loss = loss / static_cast<double>(num_rows_);
  result.outputs = std::move(outputs_);
  return result;
}

}  // namespace trainer::train
