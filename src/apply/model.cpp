// SPDX-License-Identifier: Apache-2.0
#include "trainer/apply/model.h"

#include <utility>

#include <fmt/format.h>

#include "trainer/checkpoint/find.h"
#include "trainer/checkpoint/verify.h"
#include "trainer/config/config.h"  // IWYU pragma: keep
#include "trainer/core/error.h"
#include "trainer/core/find_by_name.h"
#include "trainer/run/run_dir.h"

namespace trainer::apply {
namespace fs = std::filesystem;
namespace {

constexpr const char* kAverage = "ema";  // optim::kEma, the moment that holds averaged weights

// The best epoch is what a run is for; without one there is only where it stands.
fs::path find_best(const fs::path& given) {
  if (fs::is_directory(given)) {
    for (const fs::path& folder : {run::RunDir{given}.checkpoints(), given}) {
      if (fs::is_regular_file(folder / "best.pt")) return folder / "best.pt";
    }
  }
  return checkpoint::find_checkpoint(given);
}

/// Puts the averaged weights in the place of the others.
bool take_average(std::vector<checkpoint::NamedTensor>& weights,
                  const std::vector<checkpoint::Moment>& moments) {
  const checkpoint::Moment* average = find_by_name(moments, kAverage);
  if (average == nullptr) return false;
  for (checkpoint::NamedTensor& weight : weights) {
    const checkpoint::NamedTensor* averaged = find_by_name(average->tensors, weight.name);
    if (averaged != nullptr) weight.tensor = averaged->tensor;
  }
  return true;
}

/// The tensors of `given`, which has them all, in the order of the network.
std::vector<checkpoint::NamedTensor> in_order(const std::vector<checkpoint::NamedTensor>& given,
                                              const network::NetworkSpec& network) {
  std::vector<checkpoint::NamedTensor> weights;
  for (const network::TensorSpec& spec : network::tensors(network)) {
    weights.push_back(*find_by_name(given, spec.name));
  }
  return weights;
}

}  // namespace

Model load_model(const fs::path& run_or_checkpoint) {
  Model model;
  model.file = find_best(run_or_checkpoint);
  checkpoint::VerifiedCheckpoint verified = checkpoint::verify(model.file);
  checkpoint::Checkpoint& c = verified.checkpoint;
  model.config = std::move(verified.config);
  model.schema = std::move(c.schema);
  model.loss = config::loss_for(model.config->training.loss, model.schema.task);
  model.network = std::move(verified.network);
  model.weights = in_order(c.model, model.network);
  model.is_averaged = take_average(model.weights, c.moments);
  model.trainer_version = std::move(c.trainer_version);
  model.position = c.state.position;
  model.best = c.state.best;
  model.fingerprints = std::move(c.fingerprints);
  return model;
}

const float* float_values(const archive::TensorData& tensor) {
  return reinterpret_cast<const float*>(tensor.data);
}

const archive::TensorData& find_weight(const Model& model, const std::string& name) {
  const checkpoint::NamedTensor* found = find_by_name(model.weights, name);
  if (found == nullptr) throw Error(ErrorKind::kRuntime, "the model has no tensor " + name);
  return found->tensor;
}

}  // namespace trainer::apply
