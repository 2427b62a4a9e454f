// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include "trainer/base/text/find_by_name.h"
#include "trainer/base/text/parse.h"
#include "trainer/run/checkpoint/checkpoint.h"
#include "trainer/run/checkpoint/weights.h"
#include "trainer/train/session.h"

#include "train/restorer.h"

namespace trainer::train {
namespace {

constexpr const char* kCheckpointDoesNotFit = "the checkpoint does not match the model";

// Returns a copy in CPU memory, because the checkpoint is written while training continues.
at::Tensor copied(const at::Tensor& tensor) {
  return tensor.detach().to(at::kCPU, at::kFloat, /*non_blocking=*/false, /*copy=*/true);
}

archive::TensorData to_data(const at::Tensor& tensor) {
  auto owner = std::make_shared<const at::Tensor>(tensor);
  archive::TensorData data;
  data.dtype = archive::DType::kFloat32;
  data.shape = owner->sizes().vec();
  data.data = static_cast<const std::byte*>(owner->data_ptr());
  data.owner = owner;
  return data;
}

// Returns the parameters in a flat buffer as named views.
std::vector<model::NamedTensor> named_views(const model::FlatParameters& flat,
                                            const at::Tensor& buffer) {
  std::vector<model::NamedTensor> views;
  views.reserve(flat.specs.size());
  for (std::size_t i = 0; i < flat.specs.size(); ++i) {
    views.push_back({flat.specs[i].name, model::parameter_view(flat, buffer, i)});
  }
  return views;
}

// Copies the whole buffer to the CPU in one call, and returns its parameters by name.
std::vector<checkpoint::NamedTensor> to_named_data(const model::FlatParameters& flat,
                                                   const at::Tensor& buffer) {
  std::vector<checkpoint::NamedTensor> result;
  for (const model::NamedTensor& view : named_views(flat, copied(buffer))) {
    result.push_back({view.name, to_data(view.tensor)});
  }
  return result;
}

void copy_moments(Restorer& restorer, Session& session, const checkpoint::Checkpoint& from) {
  for (const model::NamedTensor& moment : session.optimizer_state.moments) {
    const checkpoint::Moment* saved = find_by_name(from.moments, moment.name);
    if (saved == nullptr) {
      restorer.add_problem(fmt::format("optimizer moment {}: missing from the file", moment.name));
    } else {
      restorer.copy(moment.name, saved->tensors,
                    named_views(session.model.parameters(), moment.tensor));
    }
  }
  for (const checkpoint::Moment& saved : from.moments) {
    if (find_by_name(session.optimizer_state.moments, saved.name) == nullptr) {
      restorer.add_problem(
          fmt::format("optimizer moment {}: unknown to this optimizer", saved.name));
    }
  }
}

}  // namespace

checkpoint::Checkpoint snapshot(const Session& session) {
  const model::FlatParameters& flat = session.model.parameters();
  checkpoint::Checkpoint c;
  c.model = to_named_data(flat, flat.values);
  for (const model::NamedTensor& buffer : session.model.buffers()) {
    c.model.push_back({buffer.name, to_data(copied(buffer.tensor))});
  }
  c.optimizer = config::to_text(session.config.training.optimizer.name);
  c.optimizer_step = session.optimizer_state.step;
  for (const model::NamedTensor& moment : session.optimizer_state.moments) {
    c.moments.push_back({moment.name, to_named_data(flat, moment.tensor)});
  }
  c.state = session.state;
  c.epoch_metrics = session.epoch_metrics;
  c.schema = session.data.schema;
  c.fingerprints = session.data.fingerprints;
  c.bf16_products = bf16_products(session);
  return c;
}

uint64_t checkpoint_bytes(const Session& session) {
  constexpr uint64_t kDescription = 20000;  // configuration, names, zip headers
  const auto copies = static_cast<uint64_t>(1 + session.optimizer_state.moments.size());
  return kDescription + copies * session.model.parameters().values.nbytes();
}

void restore(Session& session, const checkpoint::Checkpoint& from) {
  Restorer restorer(kCheckpointDoesNotFit, Accepts::kFloat32);
  restorer.copy("model", from.model, session.model.state());
  if (from.optimizer != config::to_text(session.config.training.optimizer.name)) {
    restorer.add_problem(fmt::format("optimizer: expected {}, got {}",
                                     config::to_text(session.config.training.optimizer.name),
                                     from.optimizer));
  } else {
    copy_moments(restorer, session, from);
  }
  if (from.state.position.samples_in_epoch > session.train.size()) {
    restorer.add_problem(fmt::format("samples_in_epoch: expected at most {}, got {}",
                                     session.train.size(), from.state.position.samples_in_epoch));
  }
  restorer.finish();
  session.optimizer_state.step = from.optimizer_step;
  // A resume may change precision or schedule; then the loss scale or the plateau starts with its
  // initial state.
  const std::optional<schedule::LossScaleState> scaler = session.state.scaler;
  const std::optional<schedule::PlateauState> plateau = session.state.plateau;
  session.state = from.state;
  session.epoch_metrics = from.epoch_metrics;
  if (!scaler || !from.state.scaler) session.state.scaler = scaler;
  if (!plateau || !from.state.plateau) session.state.plateau = plateau;
}

void share_state(Session& session) {
  const dist::World& world = *session.world;
  if (world.is_alone()) return;
  // Broadcasts through CPU memory, from any device.
  const auto share_tensor = [&](const at::Tensor& tensor) {
    if (!tensor.defined() || tensor.numel() == 0) return;
    const at::Tensor values = tensor.detach().to(at::kCPU).contiguous();
    world.broadcast({static_cast<std::byte*>(values.data_ptr()), values.nbytes()});
    if (!tensor.is_same(values)) tensor.copy_(values);
  };
  const at::NoGradGuard no_grad;
  share_tensor(session.model.parameters().values);
  share_tensor(session.model.buffer_values());
  for (const model::NamedTensor& moment : session.optimizer_state.moments) {
    share_tensor(moment.tensor);
  }
  struct Numbers {
    checkpoint::RunState state;
    int64_t optimizer_step = 0;
    float grad_norm = 0;
  } numbers{session.state, session.optimizer_state.step, session.grad_norm};
  static_assert(std::is_trivially_copyable_v<Numbers>);
  world.broadcast(std::as_writable_bytes(std::span(&numbers, 1)));
  session.state = numbers.state;
  session.optimizer_state.step = numbers.optimizer_step;
  session.grad_norm = numbers.grad_norm;
}

void restore_model(model::Network& model, const checkpoint::Checkpoint& from) {
  Restorer restorer(kCheckpointDoesNotFit, Accepts::kFloat32);
  restorer.copy("model", from.model, model.state());
  // Averaged weights overwrite the weights of the last step.
  if (const checkpoint::Moment* average = find_by_name(from.moments, optim::kEma)) {
    restorer.copy(optim::kEma, average->tensors,
                  named_views(model.parameters(), model.parameters().values));
  }
  restorer.finish();
}

void load_initial_weights(Session& session, const std::filesystem::path& file,
                          const std::vector<std::string>& skip) {
  const auto is_skipped = [&](const auto& named) { return matches_any(named.name, skip); };
  std::vector<checkpoint::NamedTensor> weights =
      checkpoint::read_weights(file, session.model.spec());
  std::vector<model::NamedTensor> state = session.model.state();
  std::erase_if(weights, is_skipped);
  std::erase_if(state, is_skipped);
  Restorer restorer(
      fmt::format("{}: these weights do not match the model; exclude tensors with model.init_skip",
                  file.string()),
      Accepts::kAnyFloat);
  restorer.copy("model", weights, state);
  restorer.finish();
  for (const model::NamedTensor& moment : session.optimizer_state.moments) {
    if (moment.name == optim::kEma) moment.tensor.copy_(session.model.parameters().values);
  }
}

}  // namespace trainer::train
