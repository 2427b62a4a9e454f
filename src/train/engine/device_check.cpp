// SPDX-License-Identifier: Apache-2.0
// Every device computes the steps that LibTorch computes on the CPU, from the same weights and in
// the same order, so the weights afterwards are equal except for rounding. The optimizer is SGD,
// because Adam would turn a gradient that is nearly zero, and whose sign is a rounding error, into
// a large step.
#include "train/engine/device_check.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <exception>
#include <string>
#include <vector>

#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/ones.h>
#include <c10/core/InferenceMode.h>

#include "trainer/base/parallel/cpus.h"
#include "trainer/base/time/stopwatch.h"
#include "trainer/base/version.h"
#include "trainer/config/config.h"
#include "trainer/torch/device/device.h"
#include "trainer/torch/device/error_text.h"
#include "trainer/torch/device/precision.h"
#include "trainer/torch/device/threads.h"
#include "trainer/train/out_of_memory.h"
#include "trainer/train/session.h"

#include "train/engine/run_header.h"
#include "train/engine/trial_session.h"

namespace trainer::engine {
namespace {

constexpr int64_t kNumSteps = 10;
constexpr int64_t kProductSize = 512;
constexpr double kProductSeconds = 0.15;

config::Config small_config(const std::string& device, config::StepKind step) {
  config::Config config;
  config.device = device;
  config.device_fallback = false;
  config.data.cache = "off";
  config.data.synthetic.num_samples = 2000;
  config.data.synthetic.num_features = 20;
  config.data.synthetic.num_classes = 3;
  config.model.hidden_sizes = {64, 64};
  config.training.batch_size = 100;
  config.training.learning_rate = 0.1;
  config.training.optimizer.name = config::OptimizerName::kSgd;
  config.training.step = step;
  return config;
}

/// The weights after some steps on a device, and how long they took.
struct Steps {
  at::Tensor weights;  // in CPU memory
  double seconds = 0;  // median duration of a step
  std::string kind;
};

Steps make_steps(const std::string& device, config::StepKind step) {
  const TrialSession trial = open_trial_session(small_config(device, step));
  train::Session& session = *trial.session;
  train::use_threads(session, usable_cpus());
  std::array<double, kNumSteps> seconds{};
  for (double& one : seconds) {
    const Stopwatch stopwatch;
    train::advance(session, train::run_step(session));
    one = stopwatch.seconds();
  }
  std::sort(seconds.begin(), seconds.end());
  return {.weights = session.model.parameters().values.detach().to(at::kCPU, at::kFloat),
          .seconds = seconds[kNumSteps / 2],
          .kind = step_text(session)};
}

std::vector<doctor::PrecisionFacts> precisions_of(c10::Device device) {
  std::vector<doctor::PrecisionFacts> all;
  for (const config::Precision precision : {config::Precision::kBf16, config::Precision::kFp16}) {
    const device::PrecisionLimit limit =
        device::precision_limit(device, precision, device::probe_precision(device, precision));
    const char* support = limit.support == device::Support::kGood   ? "good"
                          : limit.support == device::Support::kSlow ? "slow"
                                                                    : "not supported";
    all.push_back({config::to_text(precision), support, limit.text});
  }
  return all;
}

doctor::DeviceFacts check_device(const std::string& name, config::StepKind step,
                                 const at::Tensor& expected) try {
  const Steps steps = make_steps(name, step);
  const auto largest = expected.abs().max().item<double>();
  return {.name = name,
          .step = steps.kind,
          .step_seconds = steps.seconds,
          .difference = steps.weights.sub(expected).abs().max().item<double>() / largest,
          .precisions = precisions_of(c10::Device(name))};
} catch (const std::exception& error) {
  return {.name = name, .problem = device::error_text(error)};
}

// Returns the operations per second of the fastest of some products of two square matrices.
double blas_flops() {
  const c10::InferenceMode no_autograd;
  const at::Tensor a = at::ones({kProductSize, kProductSize});
  const Stopwatch total;
  double best = 0;
  while (total.seconds() < kProductSeconds) {
    const Stopwatch stopwatch;
    const at::Tensor product = at::mm(a, a);
    const double operations = 2.0 * kProductSize * kProductSize * kProductSize;
    best = std::max(best, operations / stopwatch.seconds());
  }
  return best;
}

std::string libtorch_file() {
  Dl_info where{};
  return dladdr(reinterpret_cast<const void*>(&at::get_num_threads), &where) != 0 ? where.dli_fname
                                                                                  : "";
}

}  // namespace

doctor::EngineFacts run_device_check() {
  doctor::EngineFacts facts;
  facts.libtorch = build_info().libtorch;
  facts.library = libtorch_file();
  device::use_threads(usable_cpus());
  facts.blas_flops = blas_flops();
  const at::Tensor expected = make_steps("cpu", config::StepKind::kAutograd).weights;
  facts.devices.push_back(check_device("cpu", config::StepKind::kFused, expected));
  for (const c10::Device device : device::accelerators(device::available_devices())) {
    facts.devices.push_back(check_device(device.str(), config::StepKind::kAuto, expected));
  }
  return facts;
}

}  // namespace trainer::engine
