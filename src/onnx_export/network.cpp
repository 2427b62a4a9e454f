// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "onnx_export/parts.h"

namespace trainer::onnx_export {
namespace {

constexpr float kNormEpsilon = 1e-5F;  // PyTorch's default, as the model has it

/// The hidden layers and the last one. Where ONNX Runtime looks for a pattern of operators that it
/// computes at once, such as GELU's, they are written so.
class Network {
 public:
  Network(GraphBuilder& graph, const apply::Model& model) : graph_(graph), model_(model) {}

  Name add(Name input) {
    const cpu::NetworkOptions& options = model_.options;
    for (std::size_t i = 0; i < options.hidden_sizes.size(); ++i) {
      const Name active = activated(normalized(linear(input, i), i));
      input = options.residual && i > 0 ? graph_.node("Add", {input, active}) : active;
    }
    return linear(input, options.hidden_sizes.size());
  }

 private:
  Name weight(const char* kind, std::size_t layer, const char* name) {
    const std::string full = fmt::format("{}.{}.{}", kind, layer, name);
    return graph_.weight({full, apply::weight_of(model_, full)});
  }

  Name linear(const Name& input, std::size_t layer) {
    return graph_.node("Gemm",
                       {input, weight("layers", layer, "weight"), weight("layers", layer, "bias")},
                       {attribute("transB", int64_t{1})});
  }

  Name normalized(const Name& input, std::size_t layer) {
    switch (model_.options.norm) {
      case config::Norm::kNone:
        return input;
      case config::Norm::kBatch:
        return graph_.node(
            "BatchNormalization",
            {input, weight("norms", layer, "weight"), weight("norms", layer, "bias"),
             weight("norms", layer, "running_mean"), weight("norms", layer, "running_var")},
            {attribute("epsilon", kNormEpsilon)});
      case config::Norm::kLayer:
        return layer_norm(input, layer);
    }
    return input;
  }

  // An operator of its own has it from opset 17 on only.
  Name layer_norm(const Name& input, std::size_t layer) {
    const auto mean_of = [&](const Name& value) {
      constexpr std::array<int64_t, 1> kAxes = {-1};
      return graph_.node("ReduceMean", {value},
                         {attribute("axes", kAxes), attribute("keepdims", int64_t{1})});
    };
    const Name centered = graph_.node("Sub", {input, mean_of(input)});
    const Name square = graph_.node("Pow", {centered, graph_.number("two", 2)});
    const Name variance =
        graph_.node("Add", {mean_of(square), graph_.number("epsilon", kNormEpsilon)});
    const Name normal = graph_.node("Div", {centered, graph_.node("Sqrt", {variance})});
    const Name scaled = graph_.node("Mul", {normal, weight("norms", layer, "weight")});
    return graph_.node("Add", {scaled, weight("norms", layer, "bias")});
  }

  Name activated(const Name& input) {
    switch (model_.options.activation) {
      case config::Activation::kRelu:
        return graph_.node("Relu", {input});
      case config::Activation::kGelu:
        return gelu(input);
      case config::Activation::kSilu:
        return graph_.node("Mul", {input, graph_.node("Sigmoid", {input})});
      case config::Activation::kTanh:
        return graph_.node("Tanh", {input});
    }
    return input;
  }

  // x * (1 + erf(x / sqrt(2))) / 2; an operator of its own has it from opset 20 on only.
  Name gelu(const Name& input) {
    const Name root = graph_.number("root_of_two", std::sqrt(2.0F));
    const Name erf = graph_.node("Erf", {graph_.node("Div", {input, root})});
    const Name sum = graph_.node("Add", {erf, graph_.number("one", 1)});
    return graph_.node("Mul", {graph_.node("Mul", {input, sum}), graph_.number("half", 0.5F)});
  }

  GraphBuilder& graph_;
  const apply::Model& model_;
};

bool is_identity(const data::Scaling& scaling) {
  const auto all = [](const std::vector<float>& values, float expected) {
    return std::all_of(values.begin(), values.end(),
                       [&](float value) { return value == expected; });
  };
  return all(scaling.shift, 0) && all(scaling.scale, 1);
}

Name scaled(GraphBuilder& graph, const data::Scaling& scaling, const Name& features) {
  if (is_identity(scaling)) return features;
  const Shape shape = {static_cast<int64_t>(scaling.shift.size())};
  const Name shift = graph.constant("features.shift", shape, scaling.shift);
  const Name scale = graph.constant("features.scale", shape, scaling.scale);
  return graph.node("Mul", {graph.node("Sub", {features, shift}), scale});
}

// The last features are numbers of rows of the embeddings, which take their place.
Name with_embeddings(GraphBuilder& graph, const apply::Model& model, const Name& features) {
  const int64_t num_tables = apply::num_embeddings(model.schema);
  const int64_t num_plain = model.schema.num_features() - num_tables;
  if (num_tables == 0) return features;
  const auto number = [&](const char* wish, int64_t value) {
    return graph.constant(wish, {1}, std::span(&value, 1));
  };
  std::vector<Name> parts;
  if (num_plain > 0) {
    parts.push_back(graph.node(
        "Slice", {features, number("begin", 0), number("end", num_plain), number("axis", 1)}));
  }
  for (int64_t i = 0; i < num_tables; ++i) {
    const int64_t column = num_plain + i;
    const Name place = graph.constant("column", {}, std::span(&column, 1));
    const Name cell = graph.node("Gather", {features, place}, {attribute("axis", int64_t{1})});
    const Name row =
        graph.node("Cast", {cell}, {attribute("to", int64_t{onnx::TensorProto::INT64})});
    const std::string name = fmt::format("embeddings.{}.weight", i);
    const Name table = graph.weight({name, apply::weight_of(model, name)});
    parts.push_back(graph.node("Gather", {table, row}, {attribute("axis", int64_t{0})}));
  }
  return graph.node("Concat", parts, {attribute("axis", int64_t{1})});
}

void put_into_units_of_the_data(GraphBuilder& graph, const data::Scaling& scaling, Name scores) {
  const Shape shape = {static_cast<int64_t>(scaling.shift.size())};
  if (!is_identity(scaling)) {
    const Name scale = graph.constant("targets.scale", shape, scaling.scale);
    const Name shift = graph.constant("targets.shift", shape, scaling.shift);
    scores = graph.node("Add", {graph.node("Div", {scores, scale}), shift});
  }
  if (scaling.offset.empty()) return;
  graph.node("Add", {graph.cast(scores, onnx::TensorProto::DOUBLE),
                     graph.constant("targets.offset", shape, scaling.offset)});
}

// Of the first class and of the second one, which the logit is of. Each is a sigmoid: 1 - p would
// lose the digits of a small probability.
void add_two_probabilities(GraphBuilder& graph, const Name& logit) {
  const Name first = graph.node("Sigmoid", {graph.node("Neg", {logit})});
  const Name second = graph.node("Sigmoid", {logit});
  graph.node("Concat", {first, second}, {attribute("axis", int64_t{1})});
}

}  // namespace

Name add_network(GraphBuilder& graph, const apply::Model& model, const Name& features) {
  const Name numbers = scaled(graph, model.schema.scaling, features);
  return Network(graph, model).add(with_embeddings(graph, model, numbers));
}

void add_outputs(GraphBuilder& graph, const apply::Model& model, apply::ExportOutputs outputs,
                 const Name& scores) {
  if (model.schema.task == config::Task::kRegression) {
    put_into_units_of_the_data(graph, model.schema.target_scaling, scores);
  } else if (outputs == apply::ExportOutputs::kProbabilities) {
    if (model.options.num_outputs == 1) {
      add_two_probabilities(graph, scores);
    } else {
      graph.node("Softmax", {scores}, {attribute("axis", int64_t{-1})});
    }
  }
}

}  // namespace trainer::onnx_export
