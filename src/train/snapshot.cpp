// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <fmt/format.h>

#include "trainer/core/error.h"
#include "trainer/train/session.h"

namespace trainer::train {
namespace {

using archive::TensorData;

// Shares the memory on the CPU: a checkpoint is written before the next step changes it.
TensorData to_data(const at::Tensor& tensor) {
  auto owner = std::make_shared<const at::Tensor>(tensor.detach().cpu().contiguous());
  TensorData data;
  data.dtype = archive::DType::kFloat32;
  data.shape = owner->sizes().vec();
  data.data = static_cast<const std::byte*>(owner->data_ptr());
  data.owner = owner;
  return data;
}

// The element called `name`, or nullptr.
template <typename Named>
const Named* find(const std::vector<Named>& all, const std::string& name) {
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Named& named) { return named.name == name; });
  return found == all.end() ? nullptr : &*found;
}

/// Copies tensors of a checkpoint by name and collects what does not fit.
class Restorer {
 public:
  void copy(const std::string& what, const std::vector<checkpoint::NamedTensor>& from,
            const std::vector<model::NamedTensor>& to) {
    for (const model::NamedTensor& target : to) {
      const checkpoint::NamedTensor* saved = find(from, target.name);
      const TensorData* data = saved == nullptr ? nullptr : &saved->tensor;
      if (data == nullptr) {
        problems_.push_back(fmt::format("{} {}: missing in the checkpoint", what, target.name));
      } else if (data->dtype != archive::DType::kFloat32 ||
                 at::IntArrayRef(data->shape) != target.tensor.sizes()) {
        problems_.push_back(fmt::format("{} {}: expected float32 [{}], got {} [{}]", what,
                                        target.name, fmt::join(target.tensor.sizes(), ", "),
                                        archive::dtype_name(data->dtype),
                                        fmt::join(data->shape, ", ")));
      } else {
        copies_.emplace_back(target.tensor, *data);
      }
    }
    report_unknown(what, from, to);
  }

  void refuse(const std::string& problem) { problems_.push_back(problem); }

  // All or nothing: a state that is half restored would be a run that nobody configured.
  void finish() {
    if (!problems_.empty()) {
      throw Error(ErrorKind::kCheckpoint,
                  fmt::format("the checkpoint does not fit the model:\n  {}",
                              fmt::join(problems_, "\n  ")));
    }
    for (auto& [target, data] : copies_) {
      target.copy_(at::from_blob(const_cast<std::byte*>(data.data), data.shape,  // NOLINT: read
                                 at::kFloat));
    }
  }

 private:
  void report_unknown(const std::string& what, const std::vector<checkpoint::NamedTensor>& from,
                      const std::vector<model::NamedTensor>& to) {
    for (const checkpoint::NamedTensor& named : from) {
      if (find(to, named.name) == nullptr) {
        problems_.push_back(fmt::format("{} {}: the model has no such tensor", what, named.name));
      }
    }
  }

  std::vector<std::string> problems_;
  std::vector<std::pair<at::Tensor, TensorData>> copies_;
};

std::string optimizer_name(config::OptimizerName name) {
  switch (name) {
    case config::OptimizerName::kSgd:
      return "sgd";
    case config::OptimizerName::kAdam:
      return "adam";
    case config::OptimizerName::kAdamw:
      return "adamw";
  }
  return "";
}

// The parts of a flat buffer under the names of their parameters.
std::vector<model::NamedTensor> named_views(const model::FlatParameters& flat,
                                            const at::Tensor& buffer) {
  std::vector<model::NamedTensor> views;
  for (std::size_t i = 0; i < flat.specs.size(); ++i) {
    views.push_back({flat.specs[i].name, model::view_of(flat, buffer, i)});
  }
  return views;
}

std::vector<checkpoint::NamedTensor> to_named_data(const std::vector<model::NamedTensor>& tensors) {
  std::vector<checkpoint::NamedTensor> result;
  result.reserve(tensors.size());
  for (const model::NamedTensor& named : tensors) {
    result.push_back({named.name, to_data(named.tensor)});
  }
  return result;
}

void copy_moments(Restorer& restorer, Session& session, const checkpoint::Checkpoint& from) {
  for (const model::NamedTensor& moment : session.optimizer_state.moments) {
    const checkpoint::Moment* saved = find(from.moments, moment.name);
    if (saved == nullptr) {
      restorer.refuse(fmt::format("optimizer moment {}: missing in the checkpoint", moment.name));
    } else {
      restorer.copy(moment.name, saved->tensors,
                    named_views(session.model.parameters(), moment.tensor));
    }
  }
  for (const checkpoint::Moment& saved : from.moments) {
    if (find(session.optimizer_state.moments, saved.name) == nullptr) {
      restorer.refuse(
          fmt::format("optimizer moment {}: the optimizer has no such moment", saved.name));
    }
  }
}

}  // namespace

checkpoint::Checkpoint snapshot(const Session& session) {
  const model::FlatParameters& flat = session.model.parameters();
  checkpoint::Checkpoint c;
  c.model = to_named_data(session.model.state());
  c.optimizer = optimizer_name(session.optimizer.name);
  c.optimizer_step = session.optimizer_state.step;
  for (const model::NamedTensor& moment : session.optimizer_state.moments) {
    c.moments.push_back({moment.name, to_named_data(named_views(flat, moment.tensor))});
  }
  c.position = session.position;
  c.epoch_totals = session.epoch_totals;
  c.interval_totals = {session.interval.loss_sum.item<float>(),
                       session.interval.num_correct.item<int64_t>(), session.interval.num_samples};
  c.best = session.best;
  c.epochs_without_improvement = session.epochs_without_improvement;
  c.schema = session.data.schema;
  c.fingerprints = session.data.fingerprints;
  return c;
}

void restore(Session& session, const checkpoint::Checkpoint& from) {
  Restorer restorer;
  restorer.copy("model", from.model, session.model.state());
  if (from.optimizer != optimizer_name(session.optimizer.name)) {
    restorer.refuse(fmt::format("optimizer: expected {}, got {}",
                                optimizer_name(session.optimizer.name), from.optimizer));
  } else {
    copy_moments(restorer, session, from);
  }
  if (from.position.samples_in_epoch > session.train.size()) {
    restorer.refuse(fmt::format("samples_in_epoch: expected at most {}, got {}",
                                session.train.size(), from.position.samples_in_epoch));
  }
  restorer.finish();
  session.optimizer_state.step = from.optimizer_step;
  session.position = from.position;
  session.epoch_totals = from.epoch_totals;
  session.interval.loss_sum.fill_(from.interval_totals.loss_sum);
  session.interval.num_correct.fill_(from.interval_totals.num_correct);
  session.interval.num_samples = from.interval_totals.num_samples;
  session.best = from.best;
  session.epochs_without_improvement = from.epochs_without_improvement;
}

void restore_model(model::Mlp& model, const checkpoint::Checkpoint& from) {
  Restorer restorer;
  restorer.copy("model", from.model, model.state());
  restorer.finish();
}

}  // namespace trainer::train
