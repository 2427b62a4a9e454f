// SPDX-License-Identifier: Apache-2.0
#include "trainer/apply/predictor.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <numeric>

#include <fmt/format.h>

#include "trainer/nn/cpu/combine.h"
#include "trainer/nn/cpu/kernels.h"
#include "trainer/nn/cpu/losses.h"

#include "apply/encoded_network.h"

namespace trainer::apply {
namespace {

// Rows per thread of a batch, few enough that the activations of all layers stay in the caches.
constexpr int64_t kRowsPerThread = 2 * cpu::kMaxLossRows;

bool has_one_logit(const Model& model) { return model.loss == config::Loss::kBinaryCrossEntropy; }

void softmax(std::span<const float> logits, float* probabilities) {
  const double largest = *std::max_element(logits.begin(), logits.end());
  double sum = 0;
  for (const float logit : logits) sum += std::exp(logit - largest);
  for (std::size_t i = 0; i < logits.size(); ++i) {
    probabilities[i] = static_cast<float>(std::exp(logits[i] - largest) / sum);
  }
}

}  // namespace

Predictor::Predictor(const Model& model, int64_t num_threads) : model_(model), team_(num_threads) {
  int64_t rows_of_row = 1;  // a network with members computes one row per member for each row
  for (const Member& member : model.members) {
    rows_of_row = std::max(rows_of_row, network::num_members(member.network));
  }
  const int64_t max_rows = num_threads * std::max<int64_t>(1, kRowsPerThread / rows_of_row);
  for (const Member& member : model.members) {
    networks_.push_back(std::make_unique<cpu::Network>(member.network, tensor_memory(member),
                                                       max_rows, /*max_shards=*/1, team_,
                                                       cpu::kernels(), model.precision));
  }
  rows_.resize(static_cast<std::size_t>(networks_.front()->max_rows()));
}

void Predictor::run(cpu::Network& network, const cpu::NetworkBatch& batch, float* outputs) {
  const auto keep = [&](int64_t first_row, const cpu::LossInput& input) {
    cpu::copy_outputs(input, outputs + first_row * model_.num_outputs());
  };
  team_.run([&](int64_t thread) { network.infer(thread, batch, keep, [] {}); });
}

void Predictor::run_members(std::span<const std::size_t> members, const cpu::NetworkBatch& batch,
                            std::span<float> outputs) {
  if (members.size() == 1) {
    run(*networks_[members.front()], batch, outputs.data());
    if (model_.is_ensemble()) data::limit_outputs(model_.schema, outputs);
    return;
  }
  member_outputs_.resize(members.size() * outputs.size());
  std::vector<double> weights;
  for (std::size_t i = 0; i < members.size(); ++i) {
    const std::span<float> of_member =
        std::span(member_outputs_).subspan(i * outputs.size(), outputs.size());
    run(*networks_[members[i]], batch, of_member.data());
    data::limit_outputs(model_.schema, of_member);
    if (!model_.weights.empty()) weights.push_back(model_.weights[members[i]]);
  }
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (double& weight : weights) weight /= sum;
  const int64_t num_columns = model_.num_outputs();
  cpu::combine_members(network::mean_for(model_.schema.task),
                       {.values = member_outputs_.data(),
                        .num_members = std::ssize(members),
                        .member_stride = std::ssize(outputs),
                        .num_rows = batch.num_rows,
                        .row_stride = num_columns,
                        .num_columns = num_columns,
                        .weights = weights},
                       outputs.data(), num_columns);
}

void Predictor::predict_fold(const data::Matrix& features, std::span<const int32_t> fold_of_row,
                             int32_t fold, std::span<const std::size_t> members,
                             std::span<float> outputs) {
  const auto width = static_cast<std::size_t>(model_.num_outputs());
  std::vector<float> part;
  std::size_t count = 0;
  const auto flush = [&] {
    part.resize(count * width);
    run_members(members,
                {.source = gather_source(features, model_.schema.scaling),
                 .rows = rows_.data(),
                 .num_rows = static_cast<int64_t>(count)},
                part);
    for (std::size_t i = 0; i < count; ++i) {
      std::copy_n(part.data() + i * width, width,
                  outputs.data() + static_cast<std::size_t>(rows_[i]) * width);
    }
    count = 0;
  };
  for (std::size_t row = 0; row < fold_of_row.size(); ++row) {
    if (fold_of_row[row] != fold) continue;
    rows_[count++] = static_cast<int64_t>(row);
    if (count == rows_.size()) flush();
  }
  if (count > 0) flush();
}

void Predictor::predict(const data::Matrix& features, std::vector<float>& outputs,
                        std::span<const int32_t> fold_of_row) {
  const auto width = static_cast<std::size_t>(model_.num_outputs());
  outputs.resize(static_cast<std::size_t>(features.num_rows) * width);
  if (!fold_of_row.empty()) {
    std::map<int32_t, std::vector<std::size_t>> members;  // by fold
    const std::vector<int32_t> folds = member_folds(model_);
    for (std::size_t i = 0; i < folds.size(); ++i) members[folds[i]].push_back(i);
    for (const auto& [fold, of_fold] : members) {
      predict_fold(features, fold_of_row, fold, of_fold, outputs);
    }
    return;
  }
  std::vector<std::size_t> all(networks_.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  const auto max_rows = static_cast<int64_t>(rows_.size());
  for (int64_t begin = 0; begin < features.num_rows; begin += max_rows) {
    std::iota(rows_.begin(), rows_.end(), begin);
    const int64_t num_rows = std::min(max_rows, features.num_rows - begin);
    run_members(all,
                {.source = gather_source(features, model_.schema.scaling),
                 .rows = rows_.data(),
                 .num_rows = num_rows},
                std::span(outputs).subspan(static_cast<std::size_t>(begin) * width,
                                           static_cast<std::size_t>(num_rows) * width));
  }
}

std::vector<float> probabilities(const Model& model, std::span<const float> outputs) {
  if (has_one_logit(model)) {
    std::vector<float> both;
    both.reserve(2 * outputs.size());
    for (const double logit : outputs) {
      both.push_back(static_cast<float>(1 / (1 + std::exp(logit))));
      both.push_back(static_cast<float>(1 / (1 + std::exp(-logit))));
    }
    return both;
  }
  const auto width = static_cast<std::size_t>(model.num_outputs());
  std::vector<float> result(outputs.size());
  for (std::size_t i = 0; i < outputs.size(); i += width) {
    softmax(outputs.subspan(i, width), result.data() + i);
  }
  return result;
}

std::vector<double> predicted_values(const Model& model, std::span<const float> outputs) {
  return data::predicted_values(model.schema, outputs);
}

}  // namespace trainer::apply
