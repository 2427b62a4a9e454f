// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/session.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include "trainer/base/error.h"
#include "trainer/base/io/log.h"
#include "trainer/base/memory/process_memory.h"
#include "trainer/base/text/enum_names.h"
#include "trainer/base/text/json.h"  // IWYU pragma: keep
#include "trainer/base/text/parse.h"
#include "trainer/config/fields.h"
#include "trainer/nn/cpu/kernels.h"
#include "trainer/nn/schedule/loss_scale.h"
#include "trainer/nn/spec/build.h"
#include "trainer/run/checkpoint/checkpoint.h"
#include "trainer/run/checkpoint/weights.h"
#include "trainer/table/split/order.h"
#include "trainer/torch/device/device.h"
#include "trainer/torch/device/memory.h"
#include "trainer/torch/device/precision.h"
#include "trainer/torch/device/threads.h"
#include "trainer/torch/model/network.h"

#include "train/device_fault.h"
#include "train/session_checks.h"

namespace trainer::train {
namespace {

// More rows change little and take time, which ridge regression of many features takes too.
int64_t num_initial_rows(const Session& session) {
  constexpr int64_t kMaxRows = 8192;
  constexpr int64_t kMaxProducts = int64_t{1} << 32;
  const int64_t num_rows = std::min(kMaxRows, session.train.size());
  if (session.config.model.init != config::Init::kRidge) return num_rows;
  const int64_t width = network::widths(session.model.spec()).front();
  return std::min(num_rows, std::max<int64_t>(512, kMaxProducts / (width * width)));
}

// Sets the initial weights, from the data if a layer needs them.
void initialize(Session& session) {
  const uint64_t seed = config::training_seed(session.config);
  if (!model::needs_data(session.model.spec())) return model::initialize(session.model, seed);
  const int64_t num_rows = num_initial_rows(session);
  const EpochOrder::Samples samples = session.order.samples(/*epoch=*/0, /*begin=*/0, num_rows);
  const at::Tensor rows = samples.rows.narrow(0, samples.begin, num_rows);
  device::use_threads(1);  // the bits of the result depend on the number of threads
  model::initialize(session.model, seed, on_cpu(gather(session.train, rows)));
}

}  // namespace

Session::Session(const config::Config& run_config, data::Datasets& datasets, c10::Device run_device,
                 std::shared_ptr<dist::World> run_world)
    : config(run_config),
      device(run_device),
      world(run_world == nullptr ? std::make_shared<dist::World>() : std::move(run_world)),
      division(config.distributed.shards > 0 ? config.distributed.shards : world->size(),
               world->rank(), world->size()),
      model(network::build(config, datasets.schema), network_options(config), device),
      data(std::move(datasets)) {}

namespace {

// Sets all members of the session except the step.
void prepare(Session& s, c10::Device device) {
  const config::Config& config = s.config;
  check_patterns(config, s.model);
  s.train = make_resident(s.data.train, s.data.schema, device);
  s.order = EpochOrder(data::order_options(s.data.train.features, config.data.shuffle_window,
                                           config::training_seed(config)),
                       s.train);
  initialize(s);
  s.loss = loss_options(config.training, s.data.schema.task);
  s.optimizer_state =
      optim::make_state(config.training.optimizer, config.training.ema_decay, s.model.parameters());
  s.schedule = schedule::schedule_options(config.training, s.data.train.size());
  if (s.data.validation.size() > 0) {
    s.validation = make_resident(s.data.validation, s.data.schema, device);
  }
  if (s.data.test.size() > 0) s.test = make_resident(s.data.test, s.data.schema, device);
  if (config.precision == config::Precision::kFp16) s.state.scaler = schedule::kInitialLossScale;
  if (s.schedule.name == config::ScheduleName::kReduceOnPlateau) s.state.plateau.emplace();
}

}  // namespace

std::unique_ptr<Session> make_session(const config::Config& config, data::Datasets datasets,
                                      c10::Device device, std::shared_ptr<dist::World> world) {
  check_data(config, datasets, device);
  // Activation checkpointing saves memory only if memory that is freed between layers returns to
  // the system.
  if (config.model.activation_checkpointing) return_freed_blocks();
  std::unique_ptr<Session> session;
  try {
    session = std::make_unique<Session>(config, datasets, device, world);
    prepare(*session, device);
    return session;
  } catch (const std::exception& e) {
    const bool falls_back = config.training.on_out_of_memory == config::OnOutOfMemory::kFallbackCpu;
    if (device.is_cpu() || !device::is_out_of_memory(e)) throw;
    const std::string problem = fmt::format("out of memory on {} for data and model", device.str());
    if (!falls_back) {
      throw Error(ErrorKind::kOutOfMemory,
                  fmt::format("{}; use a smaller model or data file, device: cpu, or "
                              "training.on_out_of_memory: fallback_cpu ({})",
                              problem, device::error_text(e)));
    }
    log::event("out_of_memory", problem + "; continuing on the CPU", {}, log::Level::kWarning);
  }
  if (session != nullptr) datasets = std::move(session->data);
  session.reset();
  device::release_cached_memory(device);
  config::Config on_cpu = config;
  on_cpu.precision = device::precision_on_cpu(config.precision);
  session = make_session(on_cpu, std::move(datasets), c10::kCPU, std::move(world));
  session->state.recoveries.has_fallen_back = true;
  ++session->state.recoveries.out_of_memory;
  return session;
}

bool uses_kernels(const Session& session) {
  return session.config.training.step != config::StepKind::kAutograd &&
         has_kernels(session.config, session.device);
}

std::optional<Bf16Products> bf16_products(const Session& session) {
  const bool is_bf16 = session.config.precision == config::Precision::kBf16;
  return is_bf16 && uses_kernels(session) ? std::optional(cpu::kernels().bf16_products)
                                          : std::nullopt;
}

namespace {

NormalizesOver normalizes_over(const config::Config& config) {
  const bool is_per_shard =
      config.model.norm == config::Norm::kBatch && !config.distributed.sync_batch_norm;
  return is_per_shard ? NormalizesOver::kShard : NormalizesOver::kBatch;
}

}  // namespace

std::unique_ptr<TrainStep> make_step(Session& session, int64_t batch_size, int64_t num_threads) {
  const config::TrainingConfig& training = session.config.training;
  const StepContext context{.model = session.model,
                            .optimizer_state = session.optimizer_state,
                            .optimizer = training.optimizer,
                            .ema_decay = training.ema_decay,
                            .loss = session.loss,
                            .clip_norm = training.gradient_clip_norm,
                            .loss_scale = session.state.scaler ? &*session.state.scaler : nullptr,
                            .world = session.world,
                            .division = session.division,
                            .normalizes_over = normalizes_over(session.config),
                            .cuda_graphs = training.cuda_graphs};
  const bool has_own_threads = uses_kernels(session);
  device::use_threads(has_own_threads ? 1 : num_threads);
  return has_own_threads ? make_fused_step(context, batch_size, num_threads)
                         : make_autograd_step(context);
}

void use_threads(Session& session, int64_t num_threads) {
  session.step.reset();  // frees its memory first
  session.step = make_step(session, micro_batch_size(session), num_threads);
}

int64_t batch_size(const Session& session) {
  return std::min(session.config.training.batch_size, session.train.size());
}

int64_t micro_batch_size(const Session& session) {
  const int64_t all = session.division.max_rows(batch_size(session));
  const int64_t allowed = session.state.recoveries.micro_batch_size;
  return allowed == 0 ? all : std::min(allowed, all);
}

bool stopped_early(const Session& session) {
  const int64_t patience = session.config.training.early_stopping.patience;
  return patience > 0 && session.state.epochs_without_improvement >= patience;
}

void reset_best(Session& session) {
  session.state.best.reset();
  session.state.epochs_without_improvement = 0;
}

bool finished(const Session& session) {
  return session.state.position.epoch >= session.config.training.epochs || stopped_early(session);
}

Window next_window(Session& session) {
  const uint64_t seed = config::training_seed(session.config);
  const int64_t begin = session.state.position.samples_in_epoch;
  const config::TrainingConfig& training = session.config.training;
  const int64_t count = std::min(schedule::samples_per_step(training, session.train.size()),
                                 session.train.size() - begin);
  const EpochOrder::Samples samples =
      session.order.samples(session.state.position.epoch, begin, count);
  return {.data = session.train,
          .order = samples.rows,
          .begin = samples.begin,
          .num_samples = count,
          .batch_size = batch_size(session),
          .dropout_seed = device::dropout_seed(seed, session.state.position.step),
          .dropout_factor = schedule::schedule_factor(
              training.schedule.dropout, session.state.position.step, session.schedule.total_steps),
          .micro_batch_size = micro_batch_size(session)};
}

double learning_rate_at(const Session& session, int64_t step) {
  // Each rollback halves the learning rate.
  const int64_t reductions = session.state.plateau ? session.state.plateau->num_reductions : 0;
  return std::ldexp(schedule::learning_rate(session.schedule, step, reductions),
                    -static_cast<int>(session.state.recoveries.rollbacks));
}

double next_learning_rate(const Session& session) {
  return learning_rate_at(session, session.state.position.step);
}

UpdateRates next_rates(const Session& session) {
  return {.learning_rate = next_learning_rate(session),
          .weight_decay_factor =
              schedule::schedule_factor(session.config.training.schedule.weight_decay,
                                        session.state.position.step, session.schedule.total_steps)};
}

bool epoch_is_complete(const Session& session) {
  return session.state.position.samples_in_epoch >=
         schedule::samples_per_epoch(session.config.training, session.train.size());
}

void advance(Session& session, const StepStats& stats) {
  checkpoint::RunState& state = session.state;
  ++state.position.step;
  state.position.samples_in_epoch += stats.num_samples;
  if (state.scaler) {
    const auto gradient =
        stats.is_finite ? schedule::GradientStatus::kFinite : schedule::GradientStatus::kNotFinite;
    state.scaler = schedule::after_step(*state.scaler, gradient);
  }
  if (!stats.is_finite) {
    ++state.recoveries.skipped_steps;
    return;
  }
  checkpoint::Totals& totals = state.interval_totals;
  totals.loss_sum = static_cast<float>(totals.loss_sum) + stats.loss_sum;  // adds in float32
  totals.num_correct += stats.num_correct;
  totals.num_samples += stats.num_samples;
  session.grad_norm = stats.grad_norm;
}

checkpoint::Totals finish_interval(Session& session) {
  const checkpoint::Totals interval = std::exchange(session.state.interval_totals, {});
  checkpoint::Totals& epoch = session.state.epoch_totals;
  epoch.loss_sum += interval.loss_sum;
  epoch.num_correct += interval.num_correct;
  epoch.num_samples += interval.num_samples;
  return interval;
}

void finish_epoch(Session& session) {
  checkpoint::RunState& state = session.state;
  ++state.position.epoch;
  state.position.samples_in_epoch = 0;
  state.epoch_totals = {};
}

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
