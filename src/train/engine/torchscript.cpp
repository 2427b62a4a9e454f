// SPDX-License-Identifier: Apache-2.0
// This is the only file that includes LibTorch's TorchScript headers, because they take as long to
// compile as all other headers together.
#include "train/engine/torchscript.h"

#include <algorithm>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <ATen/core/ivalue.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/tensor.h>
#include <fmt/format.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/serialization/import.h>

#include "trainer/apply/export_metadata.h"
#include "trainer/apply/export_samples.h"
#include "trainer/base/io/atomic_file.h"
#include "trainer/nn/spec/bins.h"

#include "train/engine/torchscript_source.h"

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
    } else {
      add_layers(mlp, model_.members.front());
      mlp.define(scores_source(model_.members.front().network));
    }
    add_scaling(mlp, "features", model_.schema.scaling);
    add_limits(mlp);
    if (is_regression()) add_targets(mlp);
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
  const at::Tensor output = loaded.forward({input}).toTensor().to(at::kDouble).contiguous();
  const double* got = output.data_ptr<double>();
  apply::check_outputs(model, path, "LibTorch", expected,
                       {got, static_cast<std::size_t>(output.numel())});
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
  return {.format = "TorchScript",
          .inputs = {tensor_info("features", apply::takes_doubles(model.schema),
                                 model.schema.num_features())},
          .outputs = {tensor_info(apply::output_name(model, options.outputs),
                                  apply::gives_doubles(model.schema),
                                  apply::output_width(model, options.outputs))},
          .checked = {fmt::format("loaded back, outputs of {} rows equal within {:.1g}", kNumRows,
                                  apply::kExportTolerance)}};
}

}  // namespace trainer::engine
