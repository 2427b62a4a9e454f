// SPDX-License-Identifier: Apache-2.0
#include "trainer/apply/model.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "trainer/apply/ensemble.h"
#include "trainer/base/error.h"
#include "trainer/base/text/enum_names.h"
#include "trainer/base/text/json.h"
#include "trainer/config/config.h"  // IWYU pragma: keep
#include "trainer/run/checkpoint/resume_point.h"
#include "trainer/run/checkpoint/verify.h"
#include "trainer/run/folder/run_dir.h"

#include "apply/model.h"

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

// Members of older versions have no profiles, which no prediction depends on.
data::Schema without_profiles(data::Schema schema) {
  for (data::Column& column : schema.columns) column.profile = {};
  return schema;
}

// Throws unless two members have the same schema and loss, without which their outputs cannot be
// averaged.
void require_same(const Model& first, const Model& other) {
  const bool is_same = first.schema == other.schema ||
                       without_profiles(first.schema) == without_profiles(other.schema);
  std::string difference = is_same ? "" : "other features or targets";
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
  model.weights = ensemble.weights;
  model.file = ensemble_file(folder);
  return model;
}

}  // namespace

std::vector<int32_t> member_folds(const Model& model) {
  std::vector<int32_t> folds(model.members.size(), -1);
  if (!model.is_ensemble()) return folds;
  for (std::size_t i = 0; i < folds.size(); ++i) {
    const config::DataConfig& data = model.members[i].config->data;
    if (data.validation_folds > 0) folds[i] = static_cast<int32_t>(data.validation_fold) - 1;
  }
  return folds;
}

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

Json column_json(const data::Column& column) {
  const auto in_file_units = [&](float number) { return data::in_file_units(column, number); };
  Json json = {{"name", column.name}, {"kind", to_text(column.kind)}};
  if (!column.source.empty()) {
    json["source"] = column.source;
    json["date_part"] = to_text(column.date_part);
    if (column.date_order != config::DateOrder::kYearFirst) {
      json["date_order"] = to_text(column.date_order);
    }
  }
  if (!column.unit.empty()) json["unit"] = column.unit;
  if (column.offset != 0) json["offset"] = column.offset;
  if (column.fill) json["fill"] = in_file_units(*column.fill);
  if (column.limits) {
    json["limits"] = {in_file_units(column.limits->low), in_file_units(column.limits->high)};
  }
  if (column.kind == data::ColumnKind::kCategorical) json["categories"] = column.categories;
  if (data::num_features(column) > 0) json["missing_indicator"] = column.has_missing_indicator;
  if (data::is_embedded(column)) json["embedding_size"] = column.embedding_size;
  if (column.is_sign) json["sign"] = true;
  if (column.quantile_score == data::QuantileScore::kNormal) json["normal_scores"] = true;
  for (const float quantile : column.quantiles) {
    json["quantiles"].push_back(in_file_units(quantile));
  }
  return json;
}

Json network_json(const Member& member) {
  const config::ModelConfig& config = member.config->model;
  return {{"num_features", member.network.num_features},
          {"hidden_sizes", config::hidden_sizes(config)},
          {"num_outputs", member.network.num_outputs},
          {"activation", to_text(config.activation)},
          {"norm", to_text(config.norm)},
          {"residual", config.residual}};
}

void add_model_json(const Model& model, const std::function<Json(const Member&)>& describe,
                    Json& json) {
  std::vector<Json> all;
  all.reserve(model.members.size());
  for (const Member& member : model.members) all.push_back(describe(member));
  if (std::equal(all.begin() + 1, all.end(), all.begin())) {
    json["model"] = std::move(all.front());
    return;
  }
  for (std::size_t i = 0; i < all.size(); ++i) json["members"][i]["model"] = std::move(all[i]);
}

Json member_json(const Member& member) {
  return {{"epoch", member.position.epoch},
          {"step", member.position.step},
          {"averaged_weights", member.is_averaged},
          {"temperature", member.temperature}};
}

Json scaling_json(const data::Scaling& scaling) {
  Json json = {{"shift", scaling.shift}, {"scale", scaling.scale}};
  if (!scaling.offset.empty()) json["offset"] = scaling.offset;
  for (const float inverse : scaling.inverse_limit) {
    json["limit"].push_back(inverse > 0 ? Json(1 / inverse) : Json());
  }
  return json;
}

Json target_scaling_json(const data::Schema& schema) {
  Json json = scaling_json(schema.target_scaling);
  if (!schema.target_low.empty()) {
    json["low"] = schema.target_low;
    json["high"] = schema.target_high;
  }
  return json;
}

}  // namespace trainer::apply
