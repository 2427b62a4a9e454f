// SPDX-License-Identifier: Apache-2.0
// This is the only file that includes LibTorch's TorchScript headers, because they take as long to
// compile as all other headers together.
#include "train/engine/torchscript.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numbers>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <ATen/core/ivalue.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/tensor.h>
#include <c10/core/ScalarType.h>
#include <fmt/format.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/serialization/import.h>

#include "trainer/apply/export.h"
#include "trainer/apply/export_samples.h"
#include "trainer/base/io/atomic_file.h"
#include "trainer/nn/spec/layers.h"
#include "trainer/nn/spec/mlp.h"

namespace trainer::engine {
namespace {

namespace fs = std::filesystem;
using apply::ExportOutputs;
using apply::Model;
using torch::jit::Module;

constexpr const char* kDescription = "trainer.json";

at::Tensor to_tensor(const float* values, const std::vector<int64_t>& shape) {
  return at::from_blob(const_cast<float*>(values), shape, at::kFloat).clone();  // NOLINT: read
}

at::Tensor to_tensor(const std::vector<float>& values) {
  return to_tensor(values.data(), {static_cast<int64_t>(values.size())});
}

at::Tensor to_tensor(std::vector<double> values) {
  return at::from_blob(values.data(), {static_cast<int64_t>(values.size())}, at::kDouble).clone();
}

/// Builds nested modules, so that the names in the state dict are those of the checkpoint:
/// `layers.0.weight`, or `members.2.layers.0.weight`.
class Builder {
 public:
  explicit Builder(const Model& model) : model_(model) {}

  Module build(ExportOutputs outputs) {
    Module mlp = make_module("Mlp");
    if (model_.is_ensemble()) {
      Module members = make_module("Members");
      for (std::size_t i = 0; i < model_.members.size(); ++i) {
        Module member = make_module("Member");
        add_layers(member, model_.members[i]);
        member.define(scores_source(model_.members[i].network));
        members.register_module(std::to_string(i), member);
      }
      mlp.register_module("members", members);
      if (!model_.weights.empty()) {
        const auto count = static_cast<int64_t>(model_.weights.size());
        mlp.register_buffer("member_weights",
                            to_tensor(model_.weights).to(at::kFloat).reshape({count, 1, 1}));
      }
    } else {
      add_layers(mlp, model_.members.front());
      mlp.define(scores_source(model_.members.front().network));
    }
    add_scaling(mlp, "features", model_.schema.scaling);
    add_limits(mlp);
    if (is_regression()) add_targets(mlp);
    add_intervals(mlp);
    mlp.define(forward_source(model_, outputs));
    return mlp;
  }

 private:
  using Modules = std::vector<std::pair<std::string, Module>>;
  using Groups = std::vector<std::pair<std::string, Modules>>;

  bool is_regression() const { return model_.schema.task == config::Task::kRegression; }

  // All modules are in one compilation unit, because modules must know the types of those that they
  // contain.
  Module make_module(const std::string& name) {
    Module module(c10::QualifiedName("__torch__.trainer." + name), unit_, /*shouldMangle=*/true);
    module.register_attribute("training", c10::BoolType::get(), false);  // Python requires it
    return module;
  }

  void add_layers(Module& mlp, const apply::Member& member) {
    Groups groups;
    for (const checkpoint::NamedTensor& weight : member.weights) add_weight(groups, weight);
    for (const network::Layer& layer : member.network.layers) {
      if (const auto* periodic = std::get_if<network::PeriodicEmbedding>(&layer)) {
        Module& module = find_module(groups, periodic->name);
        module.register_buffer("features", at::tensor(periodic->features, at::kLong));
      } else if (const auto* piecewise = std::get_if<network::PiecewiseEmbedding>(&layer)) {
        add_bins(find_module(groups, piecewise->name), member, *piecewise);
      }
    }
    for (auto& [name, modules] : groups) {
      if (modules.front().first.empty()) {
        mlp.register_module(name, modules.front().second);
        continue;
      }
      Module group = make_module(name);
      for (const auto& [index, module] : modules) group.register_module(index, module);
      mlp.register_module(name, group);
    }
  }

  // Returns the entry with this name, and appends one if there is none.
  template <typename T, typename Make>
  static T& find_or_make(std::vector<std::pair<std::string, T>>& all, const std::string& name,
                         const Make& make) {
    const auto found = std::find_if(all.begin(), all.end(),
                                    [&](const auto& entry) { return entry.first == name; });
    return found != all.end() ? found->second : all.emplace_back(name, make()).second;
  }

  // For "layers.0.weight", the group "layers" has a module "0" with a parameter "weight". For
  // "input_scale.weight", the group has a single module with an empty index.
  void add_weight(Groups& groups, const checkpoint::NamedTensor& weight) {
    const std::size_t first = weight.name.find('.');
    const std::size_t last = weight.name.rfind('.');
    const std::string group = weight.name.substr(0, first);
    const std::string index =
        first == last ? std::string() : weight.name.substr(first + 1, last - first - 1);
    const std::string name = weight.name.substr(last + 1);
    Modules& modules = find_or_make(groups, group, [] { return Modules(); });
    Module& module = find_or_make(
        modules, index, [&] { return make_module(index.empty() ? group : group + "_" + index); });
    const at::Tensor tensor = to_tensor(apply::float_values(weight.tensor), weight.tensor.shape);
    const bool is_buffer = name.starts_with("running_") || name == "scale" || name == "edges";
    module.register_parameter(name, tensor, is_buffer);
  }

  static Module& find_module(Groups& groups, const std::string& name) {
    const auto group = std::find_if(groups.begin(), groups.end(),
                                    [&](const auto& entry) { return entry.first == name; });
    return group->second.front().second;
  }

  static void add_bins(Module& module, const apply::Member& member,
                       const network::PiecewiseEmbedding& piecewise) {
    module.register_buffer("features", at::tensor(piecewise.features, at::kLong));
    const network::Bins bins =
        network::make_bins(piecewise, apply::weight_values(member, piecewise.name + ".edges"));
    const std::vector<int64_t> shape = {std::ssize(piecewise.features), 1, piecewise.num_bins};
    module.register_buffer("left", to_tensor(bins.left.data(), shape));
    module.register_buffer("inverse_width", to_tensor(bins.inverse_width.data(), shape));
    module.register_buffer("low", to_tensor(bins.low.data(), shape));
    module.register_buffer("high", to_tensor(bins.high.data(), shape));
  }

  static void add_scaling(Module& mlp, const std::string& prefix, const data::Scaling& scaling) {
    mlp.register_buffer(prefix + "_shift", to_tensor(scaling.shift));
    mlp.register_buffer(prefix + "_scale", to_tensor(scaling.scale));
    if (!scaling.inverse_limit.empty()) {
      mlp.register_buffer(prefix + "_inverse_limit", to_tensor(scaling.inverse_limit));
    }
    if (!scaling.offset.empty()) {
      mlp.register_buffer(prefix + "_offset", to_tensor(scaling.offset));
    }
  }

  void add_targets(Module& mlp) const {
    add_scaling(mlp, "targets", model_.schema.target_scaling);
    if (model_.schema.target_low.empty()) return;
    mlp.register_buffer("targets_low", to_tensor(model_.schema.target_low));
    mlp.register_buffer("targets_high", to_tensor(model_.schema.target_high));
  }

  void add_intervals(Module& mlp) const {
    if (!model_.conformal) return;
    const at::Tensor bounds = to_tensor(model_.conformal->bounds);
    mlp.register_buffer("interval_bounds",
                        apply::gives_doubles(model_.schema) ? bounds : bounds.to(at::kFloat));
  }

  void add_limits(Module& mlp) const {
    const apply::FeatureLimits limits = apply::feature_limits(model_.schema);
    if (limits.low.empty()) return;
    mlp.register_buffer("features_low", to_tensor(limits.low));
    mlp.register_buffer("features_high", to_tensor(limits.high));
  }

  const Model& model_;
  std::shared_ptr<torch::jit::CompilationUnit> unit_ =
      std::make_shared<torch::jit::CompilationUnit>();
};

constexpr int64_t kNumRows = 32;

/// Loads `file`, which will be renamed to `path`, and compares its outputs with those of the model.
void check(const fs::path& file, const fs::path& path, const Model& model, ExportOutputs outputs) {
  const data::Matrix features = apply::sample_features(model, kNumRows);
  const std::vector<double> expected = apply::expected_outputs(model, features, outputs);
  Module loaded = torch::jit::load(file.string(), at::kCPU);
  const at::Tensor numbers =
      to_tensor(apply::in_file_units(model, features)).reshape({kNumRows, features.num_columns});
  const at::Tensor input = apply::takes_doubles(model.schema) ? numbers : numbers.to(at::kFloat);
  const c10::IValue result = loaded.forward({input});
  std::vector<std::vector<double>> got;
  const auto take = [&](const c10::IValue& output) {
    const at::Tensor tensor = output.toTensor().to(at::kDouble).contiguous();
    got.emplace_back(tensor.data_ptr<double>(), tensor.data_ptr<double>() + tensor.numel());
  };
  if (result.isTensor()) {
    take(result);
  } else {
    for (const c10::IValue& output : result.toTupleRef().elements()) take(output);
  }
  apply::check_outputs(model, path, "LibTorch", expected, got.front());
  const std::vector<std::vector<double>> intervals = apply::interval_outputs(model, got.front());
  for (std::size_t i = 0; i < intervals.size(); ++i) {
    apply::check_outputs(model, path, "LibTorch", intervals[i], got[i + 1]);
  }
}

}  // namespace

apply::ExportReport write_torchscript(const Model& model, const apply::ExportOptions& options,
                                      const fs::path& path) {
  std::ostringstream stream;
  Builder(model)
      .build(options.outputs)
      .save(stream, {{kDescription, apply::export_description(model)}});
  AtomicFile file(path);
  file.write(stream.str());
  check(file.flushed(), path, model, options.outputs);
  file.commit();
  const auto tensor_info = [](const std::string& name, bool is_double, int64_t width) {
    return apply::TensorInfo{
        name, fmt::format("{} [batch, {}]", is_double ? "float64" : "float32", width)};
  };
  std::vector<apply::TensorInfo> results = {
      tensor_info(apply::output_name(model, options.outputs), apply::gives_doubles(model.schema),
                  apply::output_width(model, options.outputs))};
  for (const std::string& name : apply::interval_names(model)) {
    results.push_back(
        name == "set"
            ? apply::TensorInfo{name, fmt::format("bool [batch, {}]", model.schema.labels.size())}
            : apply::TensorInfo{name, results.front().type});
  }
  return {.format = "TorchScript",
          .inputs = {tensor_info("features", apply::takes_doubles(model.schema),
                                 model.schema.num_features())},
          .outputs = std::move(results),
          .checked = {fmt::format("loaded back, outputs of {} rows equal within {:.1g}", kNumRows,
                                  apply::kExportTolerance)}};
}

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
  bool has_weights = false;  // those of self.member_weights
};

// Returns an expression that combines members as nn/cpu/combine.h does. A single logit counts as
// the second of two, of which the first is 0.
std::string log_of_mean_probabilities(const Stacked& members, bool has_one_logit) {
  const std::string logits =
      has_one_logit ? fmt::format("torch.constant_pad_nd({}, [1, 0])", members.expression)
                    : members.expression;
  const std::string logs =
      members.has_weights
          ? fmt::format(
                "torch.logsumexp(torch.log_softmax({}, 2) + torch.log(self.member_weights), "
                "[{}])",
                logits, members.dimension)
          : fmt::format("torch.logsumexp(torch.log_softmax({}, 2), [{}]) - {}", logits,
                        members.dimension, std::log(static_cast<double>(members.num_members)));
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
    const std::string limits = limited(model, stacked);
    return model.weights.empty() ? fmt::format("torch.mean({}, 0)", limits)
                                 : fmt::format("torch.sum({} * self.member_weights, [0])", limits);
  }
  return log_of_mean_probabilities({stacked, 0, std::ssize(model.members), !model.weights.empty()},
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

// Returns the expression for all outputs, of which `y` is the first.
std::string with_intervals(const apply::Model& model) {
  if (!model.conformal) return "y";
  if (model.schema.task == config::Task::kRegression) {
    return "(y, y - self.interval_bounds, y + self.interval_bounds)";
  }
  return "(y, torch.ge(y, torch.minimum(torch.amax(y, [1], True), self.interval_bounds)))";
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
  source += "    y = " + result(model, outputs) + "\n";
  return source + "    return " + with_intervals(model) + "\n";
}

std::string scores_source(const network::NetworkSpec& network) {
  std::string source = "def scores(self, x):\n";
  LayerWriter writer(source);
  for (const network::Layer& layer : network.layers) writer.add(layer);
  return source + "    return x\n";
}

}  // namespace trainer::engine
