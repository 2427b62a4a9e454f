// SPDX-License-Identifier: Apache-2.0
#include "train/engine/torchscript_source.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <string_view>
#include <variant>

#include <c10/core/ScalarType.h>
#include <fmt/format.h>

#include "trainer/nn/spec/constants.h"

namespace trainer::engine {
namespace {

// The numbers of element types in TorchScript code.
constexpr int kLong = static_cast<int>(c10::kLong);
constexpr int kFloat = static_cast<int>(c10::kFloat);
constexpr int kDouble = static_cast<int>(c10::kDouble);

// Returns the expression for a module: `getattr(self.layers, "0")` for "layers.0".
std::string module_named(std::string_view name) {
  const std::size_t dot = name.find('.');
  return fmt::format("getattr(self.{}, \"{}\")", name.substr(0, dot), name.substr(dot + 1));
}

// An expression with three dimensions, of which the last are the outputs.
struct Stacked {
  std::string expression;
  int64_t dimension;  // the dimension of the members
  int64_t num_members;
};

// Returns an expression that combines members as nn/cpu/combine.h does. A single logit counts as
// the second of two, of which the first is 0.
std::string log_of_mean_probabilities(const Stacked& members, bool has_one_logit) {
  const std::string logits =
      has_one_logit ? fmt::format("torch.constant_pad_nd({}, [1, 0])", members.expression)
                    : members.expression;
  const std::string logs =
      fmt::format("torch.logsumexp(torch.log_softmax({}, 2), [{}]) - {}", logits, members.dimension,
                  std::log(static_cast<double>(members.num_members)));
  return has_one_logit ? fmt::format("torch.diff({})", logs) : logs;
}

/// Writes the lines of each layer, which read and write `x`.
class LayerWriter {
 public:
  explicit LayerWriter(std::string& source) : source_(source) {}

  void add(const network::Layer& layer) {
    std::visit([&](const auto& kind) { lines(kind); }, layer);
  }

 private:
  template <class... Arguments>
  void line(fmt::format_string<Arguments...> text, Arguments&&... arguments) {
    source_ += "    " + fmt::format(text, std::forward<Arguments>(arguments)...) + "\n";
  }

  void lines(const network::Embeddings& embeddings) {
    std::string columns = fmt::format("torch.narrow(x, 1, 0, {})", embeddings.num_numeric);
    int64_t i = 0;
    for (const network::EmbeddingTable& table : embeddings.tables) {
      line("table{} = {}.weight", i, module_named(table.name));
      line("row{} = torch.to(torch.select(x, 1, {}), {})", i, embeddings.num_numeric + i, kLong);
      columns += fmt::format(", torch.embedding(table{0}, row{0})", i);
      ++i;
    }
    line("x = torch.cat([{}], 1)", columns);
  }

  void lines(const network::PeriodicEmbedding& periodic) {
    line("numbers = self.{}", periodic.name);
    line("columns = torch.t(torch.index_select(x, 1, numbers.features))");
    line("angles = torch.unsqueeze(columns, 2) * {} * torch.unsqueeze(numbers.frequencies, 1)",
         2 * std::numbers::pi);
    line("waves = torch.cos(angles + torch.unsqueeze(numbers.phases, 1))");
    line("embedded = torch.bmm(waves, numbers.weight) + torch.unsqueeze(numbers.bias, 1)");
    line("x = torch.cat([x, torch.flatten(torch.transpose(embedded, 0, 1), 1)], 1)");
  }

  void lines(const network::PiecewiseEmbedding& piecewise) {
    line("numbers = self.{}", piecewise.name);
    line("columns = torch.unsqueeze(torch.t(torch.index_select(x, 1, numbers.features)), 2)");
    line("parts = (columns - numbers.left) * numbers.inverse_width");
    line("parts = torch.minimum(torch.maximum(parts, numbers.low), numbers.high)");
    line("lines = columns * torch.unsqueeze(numbers.slope, 1) + torch.unsqueeze(numbers.bias, 1)");
    line("embedded = torch.bmm(parts, numbers.weight) + lines");
    line("x = torch.cat([x, torch.flatten(torch.transpose(embedded, 0, 1), 1)], 1)");
  }

  void lines(const network::InputScale& scale) {
    if (scale.num_members == 1) return line("x = x * self.{}.weight", scale.name);
    line("x = torch.flatten(torch.unsqueeze(x, 1) * self.{}.weight, 0, 1)", scale.name);
  }

  void lines(const network::Linear& linear) {
    line("layer = {}", module_named(linear.name));
    if (linear.num_members == 1) return line("x = torch.linear(x, layer.weight, layer.bias)");
    line("x = torch.transpose(torch.reshape(x, [-1, {}, {}]), 0, 1)", linear.num_members,
         linear.num_inputs);
    line("x = torch.bmm(x, torch.transpose(layer.weight, 1, 2)) + torch.unsqueeze(layer.bias, 1)");
    line("x = torch.flatten(torch.transpose(x, 0, 1), 0, 1)");
  }

  void lines(const network::MemberMean& members) {
    line("x = torch.reshape(x, [-1, {}, {}])", members.num_members, members.num_outputs);
    if (members.mean == network::Mean::kOfNumbers) return line("x = torch.mean(x, 1)");
    line("x = {}",
         log_of_mean_probabilities({"x", 1, members.num_members}, members.num_outputs == 1));
    line("x = x * self.{}.scale", members.name);
  }

  void lines(const network::BatchNorm& norm) {
    line("norm = {}", module_named(norm.name));
    line(
        "x = torch.batch_norm(x, norm.weight, norm.bias, norm.running_mean, norm.running_var, "
        "False, {}, {}, False)",
        network::kBatchNormMomentum, network::kNormEpsilon);
  }

  void lines(const network::LayerNorm& norm) {
    line("norm = {}", module_named(norm.name));
    line("x = torch.layer_norm(x, [{}], norm.weight, norm.bias, {})", norm.size,
         network::kNormEpsilon);
  }

  // The names of activations in the configuration are those of the functions of torch.
  void lines(const network::Activation& activation) {
    const std::string& function = config::to_text(activation.function);
    if (activation.is_parametric()) {
      line("mix = {}.weight", module_named(activation.name));
      line("x = x + (torch.{}(x) - x) * mix", function);
    } else {
      line("x = torch.{}(x)", function);
    }
  }

  void lines(const network::Dropout&) {}
  void lines(const network::ResidualBegin&) { line("residual = x"); }
  void lines(const network::ResidualEnd&) { line("x = residual + x"); }

  std::string& source_;
};

// Returns the scores clipped to the limits of predictions, if the model has limits.
std::string limited(const apply::Model& model, const std::string& scores) {
  if (model.schema.target_low.empty()) return scores;
  return fmt::format("torch.minimum(torch.maximum({}, self.targets_low), self.targets_high)",
                     scores);
}

// Returns the scores of the model; for an ensemble, those of all members combined.
std::string scores(const apply::Model& model) {
  if (!model.is_ensemble()) return limited(model, "self.scores(x)");
  std::string list;
  for (std::size_t i = 0; i < model.members.size(); ++i) {
    list += i == 0 ? "" : ", ";
    list += fmt::format("getattr(self.members, \"{}\").scores(x)", i);
  }
  const std::string stacked = fmt::format("torch.stack([{}])", list);
  if (model.schema.task == config::Task::kRegression) {
    return fmt::format("torch.mean({}, 0)", limited(model, stacked));
  }
  return log_of_mean_probabilities({stacked, 0, std::ssize(model.members)},
                                   model.num_outputs() == 1);
}

std::string result(const apply::Model& model, apply::ExportOutputs outputs) {
  if (model.schema.task == config::Task::kRegression) {
    const std::string values = "x / self.targets_scale + self.targets_shift";
    return apply::gives_doubles(model.schema)
               ? fmt::format("torch.to({}, {}) + self.targets_offset", values, kDouble)
               : values;
  }
  if (outputs == apply::ExportOutputs::kScores) return "x";
  return model.num_outputs() == 1 ? "torch.cat([torch.sigmoid(-x), torch.sigmoid(x)], 1)"
                                  : "torch.softmax(x, 1)";
}

}  // namespace

std::string forward_source(const apply::Model& model, apply::ExportOutputs outputs) {
  std::string source = "def forward(self, features):\n    x = features\n";
  if (apply::takes_doubles(model.schema)) {
    source += fmt::format("    x = torch.to(torch.to(x, {}) - self.features_offset, {})\n", kDouble,
                          kFloat);
  }
  if (!apply::feature_limits(model.schema).low.empty()) {
    source += "    x = torch.minimum(torch.maximum(x, self.features_low), self.features_high)\n";
  }
  source += "    x = (x - self.features_shift) * self.features_scale\n";
  if (!model.schema.scaling.inverse_limit.empty()) {
    source +=
        "    part = x * self.features_inverse_limit\n    x = x / torch.sqrt(part * part + 1.)\n";
  }
  source += "    x = " + scores(model) + "\n";
  return source + "    return " + result(model, outputs) + "\n";
}

std::string scores_source(const network::NetworkSpec& network) {
  std::string source = "def scores(self, x):\n";
  LayerWriter writer(source);
  for (const network::Layer& layer : network.layers) writer.add(layer);
  return source + "    return x\n";
}

}  // namespace trainer::engine
