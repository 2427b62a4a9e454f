// SPDX-License-Identifier: Apache-2.0
#include "trainer/model/gradient.h"

#include <array>
#include <cmath>
#include <cstddef>
#include <tuple>
#include <utility>
#include <vector>

#include <ATen/ops/addmm.h>
#include <ATen/ops/embedding_dense_backward.h>
#include <ATen/ops/gelu_backward.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/native_batch_norm.h>
#include <ATen/ops/native_batch_norm_backward.h>
#include <ATen/ops/native_layer_norm.h>
#include <ATen/ops/native_layer_norm_backward.h>
#include <ATen/ops/silu_backward.h>
#include <ATen/ops/tanh_backward.h>
#include <ATen/ops/threshold_backward.h>
#include <c10/core/InferenceMode.h>

#include "model/layers.h"

namespace trainer::model {
namespace {

at::Tensor activation_gradient(const at::Tensor& gradient, const at::Tensor& input,
                               const at::Tensor& output, config::Activation activation) {
  switch (activation) {
    case config::Activation::kRelu:
      return at::threshold_backward(gradient, input, 0);
    case config::Activation::kGelu:
      return at::gelu_backward(gradient, input);
    case config::Activation::kSilu:
      return at::silu_backward(gradient, input);
    case config::Activation::kTanh:
      return at::tanh_backward(gradient, output);
  }
  return gradient;
}

/// What a hidden layer keeps from the forward for the backward pass.
struct Trace {
  at::Tensor input;      // of the layer
  at::Tensor linear;     // in front of the norm
  at::Tensor mean;       // of the norm
  at::Tensor deviation;  // its inverse
  at::Tensor normed;     // in front of the activation
  at::Tensor active;     // behind it
  at::Tensor noise;      // of dropout
};

enum class RunningStatistics { kUpdate, kLeave };

class WrittenOut {
 public:
  WrittenOut(Mlp& model, const Objective& objective)
      : model_(model),
        options_(model.options()),
        objective_(objective),
        num_hidden_(options_.hidden_sizes.size()),
        segment_(segment_of(options_)),
        traces_(num_hidden_ + 1) {}

  at::Tensor add() {
    at::Tensor outputs = forward();
    backward(loss_gradient(outputs, objective_.targets, objective_.loss).mul_(objective_.scale));
    return outputs;
  }

 private:
  enum Part { kWeight, kBias, kNormWeight, kNormBias };

  std::size_t index_of(std::size_t layer, Part part) const {
    return first_parameter(options_, layer) + part;
  }
  at::Tensor value(std::size_t layer, Part part) const {
    const FlatParameters& flat = model_.parameters();
    return view_of(flat, flat.values, index_of(layer, part));
  }
  bool is_trained(std::size_t layer, Part part) const {
    return model_.parameters().specs[index_of(layer, part)].trained == Trained::kYes;
  }
  void add_to_gradient(std::size_t layer, Part part, const at::Tensor& gradient) {
    const FlatParameters& flat = model_.parameters();
    view_of(flat, flat.gradients, index_of(layer, part)).add_(gradient);
  }

  // Layers between two whose input is kept: all inputs, or with checkpointing about sqrt(layers) of
  // them (Chen et al., "Training Deep Nets with Sublinear Memory Cost", 2016).
  static std::size_t segment_of(const MlpOptions& options) {
    if (!options.activation_checkpointing) return 1;
    return static_cast<std::size_t>(
        std::ceil(std::sqrt(static_cast<double>(options.hidden_sizes.size()))));
  }
  // Of the last segment nothing is forgotten: it would be computed again at once.
  bool is_computed_again(std::size_t layer) const {
    return segment_ > 1 && layer / segment_ < (num_hidden_ - 1) / segment_;
  }

  at::Tensor forward() {
    at::Tensor hidden =
        with_embeddings(objective_.features, options_, model_.parameters().parameters);
    for (std::size_t i = 0; i < num_hidden_; ++i) {
      if (is_computed_again(i) && i % segment_ == 0) kept_.push_back(hidden);
      hidden = forward_layer(i, hidden, RunningStatistics::kUpdate);
      if (is_computed_again(i)) traces_[i] = {};
    }
    traces_[num_hidden_].input = lowered(hidden, options_);
    return linear(num_hidden_).to(at::kFloat);
  }

  at::Tensor linear(std::size_t layer) const {
    return at::addmm(lowered(value(layer, kBias), options_), traces_[layer].input,
                     lowered(value(layer, kWeight), options_).t());
  }

  at::Tensor forward_layer(std::size_t i, const at::Tensor& hidden, RunningStatistics running) {
    Trace& t = traces_[i];
    t.input = lowered(hidden, options_);
    t.linear = linear(i);
    normalize(i, t, running);
    t.active = activate(t.normed, options_.activation);
    at::Tensor next = t.active;
    if (options_.dropout > 0) {
      t.noise = dropout_factors(next, options_.dropout, i, objective_.noise);
      next = next.mul(t.noise);
    }
    return options_.residual && i > 0 ? hidden.add(next) : next;
  }

  void forward_again(std::size_t last_layer) {
    at::Tensor hidden = std::move(kept_.back());
    kept_.pop_back();
    for (std::size_t i = last_layer / segment_ * segment_; i <= last_layer; ++i) {
      hidden = forward_layer(i, hidden, RunningStatistics::kLeave);
    }
  }

  void normalize(std::size_t layer, Trace& t, RunningStatistics running) {
    t.normed = t.linear;
    if (options_.norm == config::Norm::kNone) return;
    t.linear = t.linear.to(at::kFloat);
    if (options_.norm == config::Norm::kLayer) {
      std::tie(t.normed, t.mean, t.deviation) =
          at::native_layer_norm(t.linear, {t.linear.size(1)}, value(layer, kNormWeight),
                                value(layer, kNormBias), kNormEpsilon);
      return;
    }
    const bool of_batch = uses_batch_statistics(layer);
    const bool has_running = !of_batch || running == RunningStatistics::kUpdate;
    std::tie(t.normed, t.mean, t.deviation) =
        at::native_batch_norm(t.linear, value(layer, kNormWeight), value(layer, kNormBias),
                              has_running ? running_mean(layer) : at::Tensor(),
                              has_running ? running_var(layer) : at::Tensor(), of_batch,
                              kBatchNormMomentum, kNormEpsilon);
  }

  const at::Tensor& running_mean(std::size_t i) const { return model_.buffers()[2 * i].tensor; }
  const at::Tensor& running_var(std::size_t i) const { return model_.buffers()[2 * i + 1].tensor; }
  bool uses_batch_statistics(std::size_t i) const {
    return is_trained(i, kNormWeight) || is_trained(i, kNormBias);
  }

  // From the gradient of the outputs down to the first layer that is trained.
  void backward(at::Tensor gradient) {
    std::size_t first = 0;
    const FlatParameters& flat = model_.parameters();
    while (flat.specs[first].trained == Trained::kNo) ++first;
    std::size_t lowest = 0;
    while (index_of(lowest + 1, kWeight) <= first) ++lowest;
    const bool trains_tables = first < options_.embeddings.size();
    for (std::size_t i = num_hidden_ + 1; i-- > lowest;) {
      if (!traces_[i].linear.defined() && i < num_hidden_) forward_again(i);
      const at::Tensor linear =
          lowered(i == num_hidden_ ? gradient : hidden_gradient(i, gradient), options_);
      const Trace t = std::exchange(traces_[i], {});
      if (is_trained(i, kWeight)) add_weight_gradient(i, linear, t.input);
      if (is_trained(i, kBias)) add_to_gradient(i, kBias, linear.sum(0, false, at::kFloat));
      if (i == lowest) {
        if (trains_tables) add_table_gradients(linear);
        return;
      }
      gradient = input_gradient(i, gradient, linear);
    }
  }

  // Of a layer whose output has `gradient` and whose linear part has `linear`.
  at::Tensor input_gradient(std::size_t layer, const at::Tensor& gradient,
                            const at::Tensor& linear) const {
    const at::Tensor weight = lowered(value(layer, kWeight), options_);
    const bool has_skip = options_.residual && layer < num_hidden_;
    if (!has_skip) return at::mm(linear, weight);
    if (gradient.scalar_type() != linear.scalar_type()) {
      return gradient.add(at::mm(linear, weight));
    }
    return at::addmm(gradient, linear, weight);
  }

  // From the gradient of the first layer's linear part. The rows of a batch are added up in a fixed
  // order on every device, which index_add_ does not promise.
  void add_table_gradients(const at::Tensor& linear) {
    const FlatParameters& flat = model_.parameters();
    const at::Tensor weight =
        value(0, kWeight).narrow(1, options_.num_plain(), options_.num_embedded());
    const at::Tensor inputs = at::mm(linear, lowered(weight, options_)).to(at::kFloat);
    int64_t column = 0;
    for (std::size_t i = 0; i < options_.embeddings.size(); ++i) {
      const cpu::Embedding& table = options_.embeddings[i];
      if (flat.specs[i].trained == Trained::kYes) {
        view_of(flat, flat.gradients, i)
            .add_(at::embedding_dense_backward(inputs.narrow(1, column, table.size).contiguous(),
                                               rows_of_table(objective_.features, options_, i),
                                               table.num_rows,
                                               /*padding_idx=*/-1, /*scale_grad_by_freq=*/false));
      }
      column += table.size;
    }
  }

  void add_weight_gradient(std::size_t layer, const at::Tensor& linear, const at::Tensor& input) {
    if (options_.precision == config::Precision::kFp32) {
      const FlatParameters& flat = model_.parameters();
      view_of(flat, flat.gradients, index_of(layer, kWeight)).addmm_(linear.t(), input);
    } else {
      add_to_gradient(layer, kWeight, at::mm(linear.t(), input));
    }
  }

  // From a hidden layer's output to its linear part.
  at::Tensor hidden_gradient(std::size_t layer, const at::Tensor& gradient) {
    const Trace& t = traces_[layer];
    const at::Tensor outer = gradient.to(t.normed.scalar_type());
    at::Tensor normed = activation_gradient(t.noise.defined() ? outer.mul(t.noise) : outer,
                                            t.normed, t.active, options_.activation);
    if (options_.norm == config::Norm::kNone) return normed;
    const std::array<bool, 3> wanted = {true, is_trained(layer, kNormWeight),
                                        is_trained(layer, kNormBias)};
    at::Tensor linear, weight, bias;
    if (options_.norm == config::Norm::kLayer) {
      std::tie(linear, weight, bias) = at::native_layer_norm_backward(
          normed, t.linear, {t.linear.size(1)}, t.mean, t.deviation, value(layer, kNormWeight),
          value(layer, kNormBias), wanted);
    } else {
      std::tie(linear, weight, bias) = at::native_batch_norm_backward(
          normed, t.linear, value(layer, kNormWeight), running_mean(layer), running_var(layer),
          t.mean, t.deviation, uses_batch_statistics(layer), kNormEpsilon, wanted);
    }
    if (wanted[1]) add_to_gradient(layer, kNormWeight, weight);
    if (wanted[2]) add_to_gradient(layer, kNormBias, bias);
    return linear;
  }

  Mlp& model_;
  const MlpOptions& options_;
  const Objective& objective_;
  std::size_t num_hidden_;
  std::size_t segment_;           // layers
  std::vector<Trace> traces_;     // of the hidden layers, and the output layer's input
  std::vector<at::Tensor> kept_;  // what goes into the segments that are computed again
};

}  // namespace

at::Tensor add_gradient_by_autograd(Mlp& model, const Objective& o) {
  const at::Tensor outputs = model.forward(o.features, Mode::kTraining, o.noise);
  loss_sum(outputs, o.targets, o.loss).mul(o.scale).backward();
  return outputs.detach();
}

at::Tensor add_gradient_written_out(Mlp& model, const Objective& objective) {
  const c10::InferenceMode no_autograd;
  return WrittenOut(model, objective).add();
}

}  // namespace trainer::model
