// SPDX-License-Identifier: Apache-2.0
#include "train/device_fault.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include <ATen/core/grad_mode.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/full.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "trainer/base/error.h"
#include "trainer/base/text/enum_names.h"
#include "trainer/base/text/format.h"
#include "trainer/torch/device/device.h"
#include "trainer/torch/model/gradient.h"

#include "train/saving.h"

namespace trainer::train {
namespace {

std::string position_text(const Session& session) {
  return fmt::format("step {} (epoch {})", session.state.position.step + 1,
                     session.state.position.epoch + 1);
}

// Returns the part of an error message that says how to resume the run.
std::string advice(int64_t saved_step, const Output& output) {
  const std::string file = output.checkpoints.last().string();
  return fmt::format(
      "the state after step {} is in {}; continue with trainer --resume {} --device "
      "cpu, or on the device once it works again",
      with_thousands(saved_step), file, file);
}

struct Numbers {
  double mean_loss = 0;
  double grad_norm = 0;
};

// Computes loss and gradient norm of `window` in fp32 on the CPU.
Numbers compute_on_cpu(const Session& session, const Window& window) {
  model::NetworkOptions options = session.model.options();
  options.precision = config::Precision::kFp32;
  model::Network network(session.model.spec(), options, c10::kCPU);
  {
    const at::NoGradGuard no_grad;
    network.parameters().values.copy_(session.model.parameters().values);
    if (network.buffer_values().defined()) {
      network.buffer_values().copy_(session.model.buffer_values());
    }
  }
  const ResidentData data = make_resident(session.data.train, session.data.schema, c10::kCPU);
  const at::Tensor rows = window.rows(0, window.num_samples).cpu();
  const at::Tensor scale = at::full({}, 1 / static_cast<double>(window.num_samples));
  double loss = 0;
  for (int64_t begin = 0; begin < window.num_samples; begin += window.batch_size) {
    const Batch batch = gather(
        data, rows.narrow(0, begin, std::min(window.batch_size, window.num_samples - begin)));
    const model::BatchResult result =
        model::compute_gradient(network,
                                {.features = batch.features,
                                 .targets = batch.targets,
                                 .loss = session.loss,
                                 .scale = scale,
                                 .noise = {.seed = window.dropout_seed,
                                           .first_row = begin,
                                           .dropout_factor = window.dropout_factor}},
                                begin == 0 ? model::Accumulate::kNo : model::Accumulate::kYes);
    loss += result.loss_sum.item<double>();
  }
  return {loss / static_cast<double>(window.num_samples),
          at::linalg_vector_norm(network.parameters().gradients).item<double>()};
}

}  // namespace

void Backup::keep(const Session& session, const Output& output) {
  constexpr double kMaxShareOfTime = 0.02;
  if (session.device.is_cpu() || !session.world->is_first()) return;
  if (copy_seconds_ >= 0 && since_.seconds() * kMaxShareOfTime < copy_seconds_) return;
  const Stopwatch stopwatch;
  checkpoint_ = make_checkpoint(session, output);
  copy_seconds_ = stopwatch.seconds();
  since_.restart();
}

void Backup::report_failure(const Session& session, Output& output, const std::exception& error) {
  const std::string problem = fmt::format("{}: {} has failed: {}", position_text(session),
                                          session.device.str(), device::error_line(error));
  if (!session.world->is_first()) throw Error(ErrorKind::kDevice, problem);
  wait_for_saving(output);
  int64_t saved = checkpoint::read(output.checkpoints.last()).state.position.step;
  if (copy_seconds_ >= 0 && checkpoint_.state.position.step > saved) {
    output.metrics.sync();
    output.checkpoints.save(checkpoint_, checkpoint::SaveReason::kOther,
                            checkpoint::Store::IsBest::kNo);
    saved = checkpoint_.state.position.step;
  }
  throw Error(ErrorKind::kDevice, fmt::format("{}; {}", problem, advice(saved, output)));
}

void require_the_same_on_cpu(Session& session, Output& output, const StepStats& stats) {
  if (session.device.is_cpu() || session.config.precision != config::Precision::kFp32) return;
  const Numbers numbers = compute_on_cpu(session, next_window(session));
  if (!std::isfinite(numbers.mean_loss + numbers.grad_norm)) return;
  save(session, output, checkpoint::SaveReason::kOther, checkpoint::Store::IsBest::kNo);
  wait_for_saving(output);
  throw Error(
      ErrorKind::kDevice,
      fmt::format(
          "{}: {} computes wrong results: mean loss {:.6g} and norm of the gradient {:.6g}, "
          "on the CPU {:.6g} and {:.6g} with the same weights and rows; {}",
          position_text(session), session.device.str(),
          std::abs(stats.loss_sum / static_cast<float>(stats.num_samples)),
          std::abs(stats.grad_norm), numbers.mean_loss, numbers.grad_norm,
          advice(session.state.position.step, output)));
}

namespace {

std::optional<at::ScalarType> float_type(archive::DType dtype) {
  switch (dtype) {
    case archive::DType::kFloat32:
      return at::kFloat;
    case archive::DType::kFloat64:
      return at::kDouble;
    case archive::DType::kFloat16:
      return at::kHalf;
    case archive::DType::kBFloat16:
      return at::kBFloat16;
    case archive::DType::kInt64:
    case archive::DType::kInt32:
    case archive::DType::kInt16:
    case archive::DType::kInt8:
    case archive::DType::kUInt8:
    case archive::DType::kBool:
      break;
  }
  return std::nullopt;
}

}  // namespace

bool Restorer::accepts(archive::DType dtype) const {
  return accepts_ == Accepts::kAnyFloat ? float_type(dtype).has_value()
                                        : dtype == archive::DType::kFloat32;
}

void Restorer::copy(const std::string& what, const std::vector<checkpoint::NamedTensor>& from,
                    const std::vector<model::NamedTensor>& to) {
  for (const model::NamedTensor& target : to) {
    const checkpoint::NamedTensor* saved = find_by_name(from, target.name);
    if (saved == nullptr) {
      add_problem(fmt::format("{} {}: missing from the file", what, target.name));
    } else if (const archive::TensorData& data = saved->tensor;
               !accepts(data.dtype) || at::IntArrayRef(data.shape) != target.tensor.sizes()) {
      add_problem(fmt::format("{} {}: expected float32 [{}], got {}", what, target.name,
                              fmt::join(target.tensor.sizes(), ", "), archive::type_text(data)));
    } else {
      copies_.emplace_back(target.tensor, data);
    }
  }
  for (const checkpoint::NamedTensor& named : from) {
    if (find_by_name(to, named.name) != nullptr) continue;
    add_problem(fmt::format("{} {}: no such tensor in the model", what, named.name));
  }
}

// Copies everything or nothing, so that no state is partly restored.
void Restorer::finish() {
  if (!problems_.empty()) {
    throw Error(ErrorKind::kCheckpoint,
                fmt::format("{}:\n  {}", headline_, fmt::join(problems_, "\n  ")));
  }
  for (auto& [target, data] : copies_) {
    target.copy_(at::from_blob(const_cast<std::byte*>(data.data), data.shape,  // NOLINT: read
                               *float_type(data.dtype)));
  }
}

}  // namespace trainer::train
