// SPDX-License-Identifier: Apache-2.0
#include "trainer/apply/model.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "trainer/apply/ensemble.h"
#include "trainer/base/error.h"
#include "trainer/base/text/enum_names.h"
#include "trainer/config/config.h"  // IWYU pragma: keep
#include "trainer/run/checkpoint/resume_point.h"
#include "trainer/run/checkpoint/verify.h"
#include "trainer/run/folder/run_dir.h"

namespace trainer::apply {
namespace fs = std::filesystem;
namespace {

constexpr const char* kAverage = "ema";  // optim::kEma, the moment that holds averaged weights

// A folder means its best checkpoint, or if there is none its last.
fs::path find_best(const fs::path& given) {
  if (fs::is_directory(given)) {
    for (const fs::path& folder : {run::RunDir{given}.checkpoints(), given}) {
      if (fs::is_regular_file(folder / "best.pt")) return folder / "best.pt";
    }
  }
  return checkpoint::find_checkpoint(given);
}

/// Replaces the weights by their averages; false if the checkpoint has no averages.
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

/// Divides the tensors of the output layer by the temperature of training.calibrate, so that no
/// user of the model has to apply it.
void calibrate(std::vector<checkpoint::NamedTensor>& weights, const network::NetworkSpec& network,
               double temperature) {
  if (temperature == 1) return;
  const auto factor = static_cast<float>(1 / temperature);
  const std::vector<std::string> names = network::output_tensors(network);
  for (checkpoint::NamedTensor& weight : weights) {
    if (std::find(names.begin(), names.end(), weight.name) == names.end()) continue;
    const float* values = float_values(weight.tensor);
    auto scaled =
        std::make_shared<std::vector<float>>(values, values + weight.tensor.num_elements());
    for (float& value : *scaled) value *= factor;
    weight.tensor.data = reinterpret_cast<const std::byte*>(scaled->data());
    weight.tensor.owner = std::move(scaled);
  }
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

Model load_one(const fs::path& run_or_checkpoint) {
  Model model;
  model.file = find_best(run_or_checkpoint);
  checkpoint::VerifiedCheckpoint verified = checkpoint::verify(model.file);
  checkpoint::Checkpoint& c = verified.checkpoint;
  model.schema = std::move(c.schema);
  model.loss = config::loss_for(verified.config->training.loss, model.schema.task);
  Member member{.file = model.file,
                .config = std::move(verified.config),
                .network = std::move(verified.network)};
  member.weights = in_order(c.model, member.network);
  member.is_averaged = take_average(member.weights, c.moments);
  calibrate(member.weights, member.network, c.state.temperature);
  member.temperature = c.state.temperature;
  member.position = c.state.position;
  member.best = c.state.best;
  member.epoch_metrics = std::move(c.epoch_metrics);
  model.members.push_back(std::move(member));
  model.trainer_version = std::move(c.trainer_version);
  model.fingerprints = std::move(c.fingerprints);
  return model;
}

// Throws unless two members have the same schema and loss, without which their outputs cannot be
// averaged.
void require_same(const Model& first, const Model& other) {
  std::string difference = first.schema == other.schema ? "" : "other features or targets";
  if (first.loss != other.loss) {
    difference = fmt::format("training.loss: {} instead of {}", config::to_text(other.loss),
                             config::to_text(first.loss));
  }
  if (difference.empty()) return;
  throw Error(ErrorKind::kCheckpoint,
              fmt::format("{}: expected a member like {}, got {}; train the members of an ensemble "
                          "with trainer ensemble",
                          other.file.string(), first.file.string(), difference));
}

Model load_ensemble(const fs::path& folder, const EnsembleFile& ensemble) {
  if (std::ssize(ensemble.runs) < ensemble.num_members) {
    throw Error(ErrorKind::kCheckpoint,
                fmt::format("{}: only {} of {} members are trained; to train the others, resume it "
                            "with the command that began it and --resume {}",
                            ensemble_file(folder).string(), ensemble.runs.size(),
                            ensemble.num_members, folder.string()));
  }
  Model model = load_one(folder / ensemble.runs.front());
  for (std::size_t i = 1; i < ensemble.runs.size(); ++i) {
    Model other = load_one(folder / ensemble.runs[i]);
    require_same(model, other);
    model.members.push_back(std::move(other.members.front()));
  }
  model.file = ensemble_file(folder);
  return model;
}

}  // namespace

Model load_model(const fs::path& run_or_checkpoint) {
  const std::optional<EnsembleFile> ensemble = read_ensemble(run_or_checkpoint);
  return ensemble ? load_ensemble(run_or_checkpoint, *ensemble) : load_one(run_or_checkpoint);
}

std::string epoch_text(const Model& model) {
  return model.is_ensemble() ? fmt::format("{} members", model.members.size())
                             : fmt::format("epoch {}", model.members.front().position.epoch);
}

const float* float_values(const archive::TensorData& tensor) {
  return reinterpret_cast<const float*>(tensor.data);
}

const archive::TensorData& find_weight(const Member& member, const std::string& name) {
  const checkpoint::NamedTensor* found = find_by_name(member.weights, name);
  if (found == nullptr) throw Error(ErrorKind::kRuntime, "the model has no tensor " + name);
  return found->tensor;
}

std::span<const float> weight_values(const Member& member, const std::string& name) {
  const archive::TensorData& tensor = find_weight(member, name);
  return {float_values(tensor), static_cast<std::size_t>(tensor.num_elements())};
}

}  // namespace trainer::apply
