// SPDX-License-Identifier: Apache-2.0
#include "torch/model/activation_checkpointing.h"

#include <cmath>
#include <cstddef>
#include <variant>
#include <vector>

#include <torch/csrc/autograd/custom_function.h>
#include <torch/csrc/autograd/engine.h>
#include <torch/csrc/autograd/variable.h>

namespace trainer::model {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// Layers [begin, end) of a forward pass.
struct Segment : torch::CustomClassHolder {
  Segment(Forward pass, std::size_t first, std::size_t last)
      : forward(std::move(pass)), begin(first), end(last) {}

  Forward forward;
  std::size_t begin;
  std::size_t end;
};

/// Runs a segment as a single node of the autograd graph.
struct Recomputed : torch::autograd::Function<Recomputed> {
  // `trained` is a parameter of the segment: autograd only calls backward() if some input requires
  // a gradient.
  static at::Tensor forward(AutogradContext* context, const at::Tensor& input,
                            const at::Tensor& /*trained*/, const c10::intrusive_ptr<Segment>& s) {
    context->save_for_backward({input});
    context->saved_data["segment"] = c10::IValue::make_capsule(s);
    return s->forward.run_layers(s->begin, s->end, input, RunningStatistics::kUpdate);
  }

  // Recomputes the segment and its gradients. Also accumulates the gradients of the parameters.
  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const auto s =
        c10::static_intrusive_pointer_cast<Segment>(context->saved_data["segment"].toCapsule());
    const at::Tensor saved = context->get_saved_variables().front();
    at::Tensor input = saved.detach();
    input.requires_grad_(saved.requires_grad());
    // Keeps the gradient edge instead of the output, which would stay in memory until the segment
    // is done.
    torch::autograd::edge_list outputs;
    {
      const at::AutoGradMode with_gradient(true);
      outputs.push_back(torch::autograd::impl::gradient_edge(
          s->forward.run_layers(s->begin, s->end, input, RunningStatistics::kKeep)));
    }
    torch::autograd::Engine::get_default_engine().execute(outputs, gradients, /*keep_graph=*/false,
                                                          /*create_graph=*/false,
                                                          /*accumulate_grad=*/true);
    return {input.grad(), at::Tensor(), at::Tensor()};
  }
};

// Returns the indices at which a segment may begin: at a linear layer or at a residual around one.
std::vector<std::size_t> block_begins(const network::NetworkSpec& network) {
  std::vector<std::size_t> begins;
  bool is_in_residual = false;
  for (std::size_t i = 0; i < network.layers.size(); ++i) {
    const network::Layer& layer = network.layers[i];
    const bool begins_residual = std::holds_alternative<network::ResidualBegin>(layer);
    const bool is_linear = std::holds_alternative<network::Linear>(layer);
    if (begins_residual || (is_linear && !is_in_residual)) begins.push_back(i);
    if (begins_residual) is_in_residual = true;
    if (std::holds_alternative<network::ResidualEnd>(layer)) is_in_residual = false;
  }
  return begins;
}

// During recomputation autograd holds the inputs of the preceding segments and all layers of this
// segment. To keep that constant, each segment is one layer shorter than the one before it, so that
// L + (L - 1) + ... + 1 layers need the memory of L layers. The last one may have one more layer,
// because it receives no gradient from a later one.
std::size_t first_segment(std::size_t num_layers) {
  std::size_t length = 1;
  while (length * (length + 1) / 2 + 1 < num_layers) ++length;
  return length;
}

}  // namespace

at::Tensor run_with_checkpoints(const Forward& forward, const network::NetworkSpec& network,
                                const at::Tensor& features) {
  const std::vector<std::size_t> begins = block_begins(network);
  const std::size_t num_hidden = begins.size() - 1;
  at::Tensor values = forward.run_layers(0, begins.front(), features, RunningStatistics::kUpdate);
  // The last segment is not checkpointed: it would be recomputed immediately.
  std::size_t block = 0;
  for (std::size_t length = first_segment(num_hidden); length > 1 && block + length < num_hidden;
       --length) {
    const std::size_t begin = begins[block];
    const std::size_t end = begins[block + length];
    const at::Tensor trained = forward.trained_parameter(begin, end);
    if (!values.requires_grad() && !trained.defined()) {
      values = forward.run_layers(begin, end, values, RunningStatistics::kUpdate);
    } else {
      values =
          Recomputed::apply(values, trained, c10::make_intrusive<Segment>(forward, begin, end));
    }
    block += length;
  }
  return forward.run_layers(begins[block], network.layers.size(), values,
                            RunningStatistics::kUpdate);
}

}  // namespace trainer::model
