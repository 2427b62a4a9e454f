// SPDX-License-Identifier: Apache-2.0
#include "trainer/apply/model.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "trainer/checkpoint/verify.h"
#include "trainer/config/fields.h"
#include "trainer/core/error.h"
#include "trainer/data/network_options.h"
#include "trainer/run/run_dir.h"

namespace trainer::apply {
namespace fs = std::filesystem;
namespace {

constexpr const char* kAverage = "ema";  // optim::kEma, the moment that holds averaged weights

// The best epoch is what a run is for; without one there is only where it stands.
fs::path file_of(const fs::path& given) {
  if (fs::is_directory(given)) {
    for (const fs::path& folder : {run::RunDir{given}.checkpoints(), given}) {
      if (fs::is_regular_file(folder / "best.pt")) return folder / "best.pt";
    }
  }
  return run::find_checkpoint(given);
}

const checkpoint::NamedTensor* find(const std::vector<checkpoint::NamedTensor>& tensors,
                                    const std::string& name) {
  const auto found =
      std::find_if(tensors.begin(), tensors.end(),
                   [&](const checkpoint::NamedTensor& tensor) { return tensor.name == name; });
  return found == tensors.end() ? nullptr : &*found;
}

/// Puts the averaged weights in the place of the others.
bool take_average(std::vector<checkpoint::NamedTensor>& weights,
                  const std::vector<checkpoint::Moment>& moments) {
  const auto average =
      std::find_if(moments.begin(), moments.end(),
                   [](const checkpoint::Moment& moment) { return moment.name == kAverage; });
  if (average == moments.end()) return false;
  for (checkpoint::NamedTensor& weight : weights) {
    const checkpoint::NamedTensor* averaged = find(average->tensors, weight.name);
    if (averaged != nullptr) weight.tensor = averaged->tensor;
  }
  return true;
}

/// The tensors of `given` in the order of `specs`. Throws Error(kCheckpoint) with all problems.
std::vector<checkpoint::NamedTensor> in_order(const std::vector<checkpoint::NamedTensor>& given,
                                              const std::vector<WeightSpec>& specs,
                                              const fs::path& file) {
  std::vector<checkpoint::NamedTensor> weights;
  std::vector<std::string> problems;
  weights.reserve(specs.size());
  for (const WeightSpec& spec : specs) {
    const checkpoint::NamedTensor* tensor = find(given, spec.name);
    if (tensor == nullptr) {
      problems.push_back(
          fmt::format("{}: model {}: this tensor is missing", file.string(), spec.name));
    } else if (tensor->tensor.shape != spec.shape) {
      problems.push_back(fmt::format("{}: model {}: expected [{}], got [{}]", file.string(),
                                     spec.name, fmt::join(spec.shape, ", "),
                                     fmt::join(tensor->tensor.shape, ", ")));
    } else {
      weights.push_back(*tensor);
    }
  }
  if (!problems.empty()) {
    throw Error(ErrorKind::kCheckpoint, fmt::format("{}", fmt::join(problems, "\n")));
  }
  return weights;
}

}  // namespace

std::vector<WeightSpec> weight_specs(const cpu::NetworkOptions& options) {
  std::vector<WeightSpec> parameters;
  std::vector<WeightSpec> buffers;
  for (const cpu::Embedding& embedding : options.embeddings) {
    parameters.push_back({fmt::format("embeddings.{}.weight", parameters.size()),
                          {embedding.num_rows, embedding.size}});
  }
  int64_t width = options.num_inputs();
  for (std::size_t i = 0; i <= options.hidden_sizes.size(); ++i) {
    const bool is_output = i == options.hidden_sizes.size();
    const int64_t out = is_output ? options.num_outputs : options.hidden_sizes[i];
    parameters.push_back({fmt::format("layers.{}.weight", i), {out, width}});
    parameters.push_back({fmt::format("layers.{}.bias", i), {out}});
    width = out;
    if (is_output || options.norm == config::Norm::kNone) continue;
    parameters.push_back({fmt::format("norms.{}.weight", i), {out}});
    parameters.push_back({fmt::format("norms.{}.bias", i), {out}});
    if (options.norm != config::Norm::kBatch) continue;
    buffers.push_back({fmt::format("norms.{}.running_mean", i), {out}});
    buffers.push_back({fmt::format("norms.{}.running_var", i), {out}});
  }
  parameters.insert(parameters.end(), buffers.begin(), buffers.end());
  return parameters;
}

Model load_model(const fs::path& run_or_checkpoint) {
  Model model;
  model.file = file_of(run_or_checkpoint);
  checkpoint::Verified verified = checkpoint::verify(model.file);
  checkpoint::Checkpoint& c = verified.checkpoint;
  model.config = std::move(verified.config);
  model.schema = std::move(c.schema);
  model.loss = config::loss_for(model.config.training.loss, model.schema.task);
  model.options = data::network_options(model.config, model.schema);
  model.weights = in_order(c.model, weight_specs(model.options), model.file);
  model.is_averaged = take_average(model.weights, c.moments);
  model.trainer_version = std::move(c.trainer_version);
  model.position = c.position;
  model.best = c.best;
  model.fingerprints = std::move(c.fingerprints);
  return model;
}

std::string loss_name(config::Loss loss) {
  config::Config config;
  config.training.loss = loss;
  return config::value_text("training.loss", config);
}

const float* float_values(const archive::TensorData& tensor) {
  return reinterpret_cast<const float*>(tensor.data);
}

const archive::TensorData& weight_of(const Model& model, const std::string& name) {
  const checkpoint::NamedTensor* found = find(model.weights, name);
  if (found == nullptr) throw Error(ErrorKind::kRuntime, "the model has no tensor " + name);
  return found->tensor;
}

}  // namespace trainer::apply
