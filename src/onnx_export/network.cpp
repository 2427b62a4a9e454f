// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "trainer/nn/spec/layers.h"
#include "trainer/nn/spec/mlp.h"

#include "onnx_export/parts.h"

namespace trainer::onnx_export {
namespace {

constexpr auto kNormEpsilon = static_cast<float>(network::kNormEpsilon);

Name reshaped(GraphBuilder& graph, const Name& value, const std::vector<int64_t>& shape) {
  const int64_t rank = std::ssize(shape);
  return graph.node(
      "Reshape", {value, graph.constant("shape", {rank}, std::span(shape.data(), shape.size()))});
}

// Combines `members` `[batch, members, outputs]` as nn/cpu/combine.h does, by their weights, or
// equally if these are empty. A single logit counts as the second of two, of which the first is 0.
Name log_of_mean_probabilities(GraphBuilder& graph, const Name& members, int64_t num_members,
                               std::span<const double> weights, bool has_one_logit) {
  Name logits = members;
  if (has_one_logit) {
    const Name zero = graph.node("Sub", {logits, logits});
    logits = graph.node("Concat", {zero, logits}, {attribute("axis", int64_t{-1})});
  }
  constexpr std::array<int64_t, 1> kMembers = {1};
  Name logs = graph.node("LogSoftmax", {logits}, {attribute("axis", int64_t{-1})});
  if (!weights.empty()) {
    std::vector<float> log_weights;
    for (const double weight : weights) log_weights.push_back(static_cast<float>(std::log(weight)));
    logs = graph.node("Add", {logs, graph.constant("log_weights", {num_members, 1}, log_weights)});
  }
  const Name sum = graph.node("ReduceLogSumExp", {logs},
                              {attribute("axes", kMembers), attribute("keepdims", int64_t{0})});
  Name mean = sum;
  if (weights.empty()) {
    const float log_members = std::log(static_cast<float>(num_members));
    mean = graph.node("Sub", {sum, graph.number("log_members", log_members)});
  }
  if (!has_one_logit) return mean;
  const auto column = [&](int64_t index) {
    return graph.node("Gather", {mean, graph.constant("column", {1}, std::span(&index, 1))},
                      {attribute("axis", int64_t{1})});
  };
  return graph.node("Sub", {column(1), column(0)});
}

/// Adds the operators of one layer after the other: add() takes the name of the layer's input and
/// returns that of its output. Patterns of operators that ONNX Runtime recognizes and computes as
/// one, such as that of GELU, are written in the form that it expects.
class LayerWriter {
 public:
  LayerWriter(GraphBuilder& graph, const apply::Model& model, std::size_t member)
      : graph_(graph),
        member_(model.members[member]),
        prefix_(apply::member_prefix(model, member)) {}

  Name add(const network::Layer& layer, const Name& input) {
    return std::visit([&](const auto& kind) { return operators(kind, input); }, layer);
  }

 private:
  Name weight(const std::string& name) {
    return graph_.weight({prefix_ + name, apply::find_weight(member_, name)});
  }

  Name operators(const network::Embeddings& embeddings, const Name& features) {
    const int64_t num_numeric = embeddings.num_numeric;
    const auto number = [&](const char* wish, int64_t value) {
      return graph_.constant(wish, {1}, std::span(&value, 1));
    };
    std::vector<Name> parts;
    if (num_numeric > 0) {
      parts.push_back(graph_.node(
          "Slice", {features, number("begin", 0), number("end", num_numeric), number("axis", 1)}));
    }
    int64_t column = num_numeric;
    for (const network::EmbeddingTable& table : embeddings.tables) {
      const Name index = graph_.constant("column", {}, std::span(&column, 1));
      const Name cell = graph_.node("Gather", {features, index}, {attribute("axis", int64_t{1})});
      const Name row =
          graph_.node("Cast", {cell}, {attribute("to", int64_t{onnx::TensorProto::INT64})});
      parts.push_back(graph_.node("Gather", {weight(table.name + ".weight"), row},
                                  {attribute("axis", int64_t{0})}));
      ++column;
    }
    return graph_.node("Concat", parts, {attribute("axis", int64_t{1})});
  }

  // Returns the columns `features` of the input as `[features, batch, 1]`.
  Name feature_columns(const std::vector<int64_t>& features, const Name& input) {
    const int64_t num_features = std::ssize(features);
    const Name indices =
        graph_.constant("features", {num_features}, std::span(features.data(), features.size()));
    const Name chosen = graph_.node("Gather", {input, indices}, {attribute("axis", int64_t{1})});
    constexpr std::array<int64_t, 2> kTransposed = {1, 0};
    return reshaped(graph_, graph_.node("Transpose", {chosen}, {attribute("perm", kTransposed)}),
                    {num_features, -1, 1});
  }

  // Returns a weight `[features, size]` as `[features, 1, size]`, to be broadcast over the rows.
  Name per_feature(const std::string& name, int64_t num_features, int64_t size) {
    return reshaped(graph_, weight(name), {num_features, 1, size});
  }

  // Appends `embedded` `[features, batch, size]` to the columns of the input.
  Name appended(const Name& input, const Name& embedded, int64_t num_columns) {
    constexpr std::array<int64_t, 3> kBatchFirst = {1, 0, 2};
    const Name rows =
        reshaped(graph_, graph_.node("Transpose", {embedded}, {attribute("perm", kBatchFirst)}),
                 {-1, num_columns});
    return graph_.node("Concat", {input, rows}, {attribute("axis", int64_t{1})});
  }

  Name operators(const network::PeriodicEmbedding& periodic, const Name& input) {
    const int64_t num_features = std::ssize(periodic.features);
    const Name turns =
        graph_.node("Mul", {feature_columns(periodic.features, input),
                            graph_.number("two_pi", static_cast<float>(2 * std::numbers::pi))});
    const Name frequencies =
        per_feature(periodic.name + ".frequencies", num_features, periodic.num_frequencies);
    const Name phases =
        per_feature(periodic.name + ".phases", num_features, periodic.num_frequencies);
    const Name angles = graph_.node("Add", {graph_.node("Mul", {turns, frequencies}), phases});
    const Name product =
        graph_.node("MatMul", {graph_.node("Cos", {angles}), weight(periodic.name + ".weight")});
    const Name bias = per_feature(periodic.name + ".bias", num_features, periodic.size);
    return appended(input, graph_.node("Add", {product, bias}), num_features * periodic.size);
  }

  Name operators(const network::PiecewiseEmbedding& piecewise, const Name& input) {
    const int64_t num_features = std::ssize(piecewise.features);
    const network::Bins bins =
        network::make_bins(piecewise, apply::weight_values(member_, piecewise.name + ".edges"));
    const auto of_bins = [&](const char* name, const std::vector<float>& values) {
      return graph_.constant(name, {num_features, 1, piecewise.num_bins}, values);
    };
    const Name x = feature_columns(piecewise.features, input);
    const Name parts = graph_.node("Mul", {graph_.node("Sub", {x, of_bins("bins.left", bins.left)}),
                                           of_bins("bins.inverse_width", bins.inverse_width)});
    const Name limited =
        graph_.node("Min", {graph_.node("Max", {parts, of_bins("bins.low", bins.low)}),
                            of_bins("bins.high", bins.high)});
    const Name slope = per_feature(piecewise.name + ".slope", num_features, piecewise.size);
    const Name bias = per_feature(piecewise.name + ".bias", num_features, piecewise.size);
    const Name line = graph_.node("Add", {graph_.node("Mul", {x, slope}), bias});
    const Name product = graph_.node("MatMul", {limited, weight(piecewise.name + ".weight")});
    return appended(input, graph_.node("Add", {line, product}), num_features * piecewise.size);
  }

  // With several members the result is `[batch, members, size]`, reshaped so that later layers see
  // each member as a row.
  Name operators(const network::InputScale& scale, const Name& input) {
    const Name factors = weight(scale.name + ".weight");
    if (scale.num_members == 1) return graph_.node("Mul", {input, factors});
    const Name rows = reshaped(graph_, input, {-1, 1, scale.size});
    return reshaped(graph_, graph_.node("Mul", {rows, factors}), {-1, scale.size});
  }

  // A linear layer with a weight for each member, as a batched product: `[members, batch, inputs]`
  // times `[members, inputs, outputs]`.
  Name of_members(const network::Linear& linear, const Name& input) {
    const int64_t count = linear.num_members;
    constexpr std::array<int64_t, 3> kMembersFirst = {1, 0, 2};
    constexpr std::array<int64_t, 3> kTransposed = {0, 2, 1};
    const Name rows =
        graph_.node("Transpose", {reshaped(graph_, input, {-1, count, linear.num_inputs})},
                    {attribute("perm", kMembersFirst)});
    const Name weights = graph_.node("Transpose", {weight(linear.name + ".weight")},
                                     {attribute("perm", kTransposed)});
    const Name bias =
        reshaped(graph_, weight(linear.name + ".bias"), {count, 1, linear.num_outputs});
    const Name outputs = graph_.node("Add", {graph_.node("MatMul", {rows, weights}), bias});
    return reshaped(graph_, graph_.node("Transpose", {outputs}, {attribute("perm", kMembersFirst)}),
                    {-1, linear.num_outputs});
  }

  Name operators(const network::MemberMean& members, const Name& input) {
    const Name rows = reshaped(graph_, input, {-1, members.num_members, members.num_outputs});
    if (members.mean == network::Mean::kOfNumbers) {
      constexpr std::array<int64_t, 1> kMembers = {1};
      return graph_.node("ReduceMean", {rows},
                         {attribute("axes", kMembers), attribute("keepdims", int64_t{0})});
    }
    const Name mean =
        log_of_mean_probabilities(graph_, rows, members.num_members, {}, members.num_outputs == 1);
    return graph_.node("Mul", {mean, weight(members.name + ".scale")});
  }

  Name operators(const network::Linear& linear, const Name& input) {
    if (linear.num_members > 1) return of_members(linear, input);
    return graph_.node("Gemm",
                       {input, weight(linear.name + ".weight"), weight(linear.name + ".bias")},
                       {attribute("transB", int64_t{1})});
  }

  Name operators(const network::BatchNorm& norm, const Name& input) {
    return graph_.node("BatchNormalization",
                       {input, weight(norm.name + ".weight"), weight(norm.name + ".bias"),
                        weight(norm.name + ".running_mean"), weight(norm.name + ".running_var")},
                       {attribute("epsilon", kNormEpsilon)});
  }

  // Composed of basic operators, because the operator LayerNormalization requires opset 17.
  Name operators(const network::LayerNorm& norm, const Name& input) {
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
    const Name scaled = graph_.node("Mul", {normal, weight(norm.name + ".weight")});
    return graph_.node("Add", {scaled, weight(norm.name + ".bias")});
  }

  Name operators(const network::Activation& activation, const Name& input) {
    Name activated = activate(activation.function, input);
    if (!activation.is_parametric()) return activated;
    const Name difference = graph_.node("Sub", {activated, input});
    return graph_.node(
        "Add", {input, graph_.node("Mul", {difference, weight(activation.name + ".weight")})});
  }

  Name activate(config::Activation function, const Name& input) {
    switch (function) {
      case config::Activation::kRelu:
        return graph_.node("Relu", {input});
      case config::Activation::kGelu:
        return gelu(input);
      case config::Activation::kSilu:
        return graph_.node("Mul", {input, graph_.node("Sigmoid", {input})});
      case config::Activation::kTanh:
        return graph_.node("Tanh", {input});
      case config::Activation::kSelu:
        return graph_.node("Selu", {input});
      case config::Activation::kMish:
        return mish(input);
    }
    return input;
  }

  static Name operators(const network::Dropout&, const Name& input) { return input; }

  Name operators(const network::ResidualBegin&, const Name& input) {
    residual_input_ = input;
    return input;
  }

  Name operators(const network::ResidualEnd&, const Name& input) {
    return graph_.node("Add", {residual_input_, input});
  }

  // Computes x * (1 + erf(x / sqrt(2))) / 2; the operator Gelu requires opset 20.
  Name gelu(const Name& input) {
    const Name root = graph_.number("root_of_two", std::numbers::sqrt2_v<float>);
    const Name erf = graph_.node("Erf", {graph_.node("Div", {input, root})});
    const Name sum = graph_.node("Add", {erf, graph_.number("one", 1)});
    return graph_.node("Mul", {graph_.node("Mul", {input, sum}), graph_.number("half", 0.5F)});
  }

  // Computes x * tanh(log(1 + e^x)); the operator Mish requires opset 18.
  Name mish(const Name& input) {
    return graph_.node("Mul", {input, graph_.node("Tanh", {graph_.node("Softplus", {input})})});
  }

  GraphBuilder& graph_;
  const apply::Member& member_;
  std::string prefix_;
  Name residual_input_;
};

bool is_identity(const data::Scaling& scaling) {
  const auto all = [](const std::vector<float>& values, float expected) {
    return std::all_of(values.begin(), values.end(),
                       [&](float value) { return value == expected; });
  };
  return all(scaling.shift, 0) && all(scaling.scale, 1);
}

Name scaled(GraphBuilder& graph, const data::Scaling& scaling, const Name& features) {
  const Shape shape = {static_cast<int64_t>(scaling.shift.size())};
  Name values = features;
  if (!is_identity(scaling)) {
    const Name shift = graph.constant("features.shift", shape, scaling.shift);
    const Name scale = graph.constant("features.scale", shape, scaling.scale);
    values = graph.node("Mul", {graph.node("Sub", {features, shift}), scale});
  }
  if (scaling.inverse_limit.empty()) return values;
  const Name limit = graph.constant("features.inverse_limit", shape, scaling.inverse_limit);
  const Name part = graph.node("Mul", {values, limit});
  const Name sum = graph.node("Add", {graph.node("Mul", {part, part}), graph.number("one", 1)});
  return graph.node("Div", {values, graph.node("Sqrt", {sum})});
}

// Clips the scores of each member to the limits of predictions, if the model has limits.
void limit(GraphBuilder& graph, const data::Schema& schema, std::vector<Name>& members) {
  if (schema.target_low.empty()) return;
  const Shape shape = {schema.num_targets()};
  const Name low = graph.constant("targets.low", shape, schema.target_low);
  const Name high = graph.constant("targets.high", shape, schema.target_high);
  for (Name& scores : members) {
    scores = graph.node("Min", {graph.node("Max", {scores, low}), high});
  }
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

// Adds the probabilities of both classes from the logit of the second. Each is computed as a
// sigmoid, because 1 - p would lose the digits of a small probability.
void add_two_probabilities(GraphBuilder& graph, const Name& logit) {
  const Name first = graph.node("Sigmoid", {graph.node("Neg", {logit})});
  const Name second = graph.node("Sigmoid", {logit});
  graph.node("Concat", {first, second}, {attribute("axis", int64_t{1})});
}

// Returns the mean of the predictions of all members by their weights, or equally without any.
Name mean_of(GraphBuilder& graph, std::vector<Name> members, std::span<const double> weights) {
  if (weights.empty()) return graph.node("Mean", members);
  for (std::size_t i = 0; i < members.size(); ++i) {
    members[i] = graph.node(
        "Mul", {members[i], graph.number("member_weight", static_cast<float>(weights[i]))});
  }
  return graph.node("Sum", members);
}

// Stacks the scores of all members as `[batch, members, outputs]`.
Name stacked(GraphBuilder& graph, const std::vector<Name>& members) {
  constexpr std::array<int64_t, 1> kMembers = {1};
  const Name axes = graph.constant("axes", {1}, kMembers);
  std::vector<Name> parts;
  parts.reserve(members.size());
  for (const Name& scores : members) parts.push_back(graph.node("Unsqueeze", {scores, axes}));
  return graph.node("Concat", parts, {attribute("axis", int64_t{1})});
}

}  // namespace

Name add_networks(GraphBuilder& graph, const apply::Model& model, const Name& features) {
  const Name input = scaled(graph, model.schema.scaling, features);
  std::vector<Name> scores;
  for (std::size_t i = 0; i < model.members.size(); ++i) {
    LayerWriter writer(graph, model, i);
    Name values = input;
    for (const network::Layer& layer : model.members[i].network.layers)
      values = writer.add(layer, values);
    scores.push_back(values);
  }
  limit(graph, model.schema, scores);
  if (!model.is_ensemble()) return scores.front();
  return model.schema.task == config::Task::kRegression
             ? mean_of(graph, scores, model.weights)
             : log_of_mean_probabilities(graph, stacked(graph, scores), std::ssize(scores),
                                         model.weights, model.num_outputs() == 1);
}

void add_outputs(GraphBuilder& graph, const apply::Model& model, apply::ExportOutputs outputs,
                 const Name& scores) {
  if (model.schema.task == config::Task::kRegression) {
    put_into_units_of_the_data(graph, model.schema.target_scaling, scores);
  } else if (outputs == apply::ExportOutputs::kProbabilities) {
    if (model.num_outputs() == 1) {
      add_two_probabilities(graph, scores);
    } else {
      graph.node("Softmax", {scores}, {attribute("axis", int64_t{-1})});
    }
  }
}

void add_intervals(GraphBuilder& graph, const apply::Model& model, const Name& predictions,
                   const std::vector<Name>& names) {
  if (!model.conformal) return;
  const std::vector<double>& bounds = model.conformal->bounds;
  const auto width = std::ssize(bounds);
  const bool has_doubles = apply::gives_doubles(model.schema);
  const Name bound = has_doubles ? graph.constant("bounds", {width}, bounds)
                                 : graph.constant("bounds", {width},
                                                  std::vector<float>(bounds.begin(), bounds.end()));
  if (model.schema.task == config::Task::kRegression) {
    const int32_t type = has_doubles ? onnx::TensorProto::DOUBLE : onnx::TensorProto::FLOAT;
    for (const auto& [op, name] : {std::pair("Sub", names[0]), std::pair("Add", names[1])}) {
      graph.node(op, {predictions, bound});
      graph.output(name, type, width, "of the interval");
    }
    return;
  }
  constexpr std::array<int64_t, 1> kClasses = {-1};
  const Name largest = graph.node("ReduceMax", {predictions}, {attribute("axes", kClasses)});
  graph.node("GreaterOrEqual", {predictions, graph.node("Min", {largest, bound})});
  graph.output(names[0], onnx::TensorProto::BOOL, std::ssize(model.schema.labels),
               "of the classes in the set");
}

}  // namespace trainer::onnx_export
