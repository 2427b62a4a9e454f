// SPDX-License-Identifier: Apache-2.0
// `trainer doctor` checks devices here. Every device computes the steps that LibTorch computes on
// the CPU, from the same weights and in the same order, so the weights afterwards are equal except
// for rounding. The optimizer is SGD, because Adam would turn a gradient that is nearly zero, and
// whose sign is a rounding error, into a large step.
#include "train/engine/trial_runs.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <exception>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/ones.h>
#include <c10/core/InferenceMode.h>
#include <fmt/format.h>

#include "trainer/base/error.h"
#include "trainer/base/io/user_folders.h"
#include "trainer/base/memory/process_memory.h"
#include "trainer/base/parallel/cpus.h"
#include "trainer/base/signals.h"
#include "trainer/base/time/long_work.h"
#include "trainer/base/time/stopwatch.h"
#include "trainer/base/time/timeline.h"
#include "trainer/base/version.h"
#include "trainer/config/config.h"
#include "trainer/config/dump.h"
#include "trainer/config/recipe.h"
#include "trainer/run/checkpoint/checkpoint.h"
#include "trainer/run/checkpoint/store.h"
#include "trainer/table/cached/load.h"
#include "trainer/table/dataset.h"
#include "trainer/torch/device/device.h"
#include "trainer/torch/device/memory.h"
#include "trainer/torch/device/precision.h"
#include "trainer/torch/device/threads.h"
#include "trainer/train/batch_search.h"
#include "trainer/train/out_of_memory.h"
#include "trainer/train/session.h"

#include "train/engine/run_records.h"

namespace trainer::engine {

TrialSession open_trial_session(config::Config config) {
  const TimedStage timed(Stage::kPrepare);
  data::Datasets data = cache::load(config.data, static_cast<uint64_t>(config.seed));
  config::complete_recipe(config, data::recipe_facts(data));
  TrialSession trial{.decisions = decide_device(config, data, {}, MayChoosePrecision::kNo),
                     .session = nullptr};
  warn(trial.decisions);
  config.precision = trial.decisions.precision.precision;
  trial.session = train::make_session(config, std::move(data), trial.decisions.device.device);
  return trial;
}

namespace {

int64_t bytes_of(const at::Tensor& tensor) {
  return tensor.defined() ? static_cast<int64_t>(tensor.nbytes()) : 0;
}

int64_t bytes_of(const std::optional<train::ResidentData>& data) {
  if (!data) return 0;
  return bytes_of(data->features) + bytes_of(data->targets) + bytes_of(data->weights);
}

profile::MemoryUse memory_use(const train::Session& session) {
  const model::FlatParameters& flat = session.model.parameters();
  profile::MemoryUse memory;
  memory.parameters = bytes_of(flat.values) + bytes_of(session.model.buffer_values());
  memory.gradients = bytes_of(flat.gradients);
  for (const model::NamedTensor& moment : session.optimizer_state.moments) {
    memory.moments += bytes_of(moment.tensor);
  }
  if (session.step) memory.activations = session.step->activation_bytes();
  memory.data = bytes_of(session.train) + bytes_of(session.validation) + bytes_of(session.test);
  memory.process_peak = process_memory().peak;
  if (const auto device = device::accelerator_memory(session.device)) {
    memory.device_peak = device->peak.value_or(device->current);
  }
  return memory;
}

}  // namespace

profile::Workload describe_workload(const train::Session& session, const Decisions& decisions,
                                    int64_t num_rows) {
  const dist::Division& division = session.division;
  return {.network = session.model.spec(),
          .device = session.device.str(),
          .precision = to_text(decisions.precision.precision),
          .uses_kernels = train::uses_kernels(session),
          .num_threads = decisions.threads.num_threads,
          .batch_size = train::batch_size(session),
          .rows = num_rows * division.mine().size() / division.num_shards(),
          .bytes_per_feature = session.train.features.element_size(),
          .num_moments = static_cast<int64_t>(session.optimizer_state.moments.size()),
          .memory = memory_use(session)};
}

namespace {

BatchTrial convert(const train::BatchTrial& trial) {
  return {.batch_size = trial.batch_size,
          .num_threads = trial.num_threads,
          .step_seconds = trial.step_seconds,
          .samples_per_second = trial.samples_per_second(),
          .memory_bytes = trial.memory_bytes};
}

}  // namespace

BatchSearchReport run_batch_search(const BatchSearchRequest& request) {
  const TrialSession opened = open_trial_session(request.config.config);
  const int64_t all = opened.session->train.size();
  const int64_t max_batch_size =
      request.max_batch_size > 0 ? std::min(request.max_batch_size, all) : all;
  const train::BatchSearch search =
      train::search_batch_sizes(*opened.session, max_batch_size, opened.session->config.threads,
                                [&](const train::BatchTrial& trial) {
                                  if (request.progress) request.progress(convert(trial));
                                });
  return {.device = opened.decisions.device.device.str(),
          .largest = search.trials.back().batch_size,
          .too_large = search.too_large,
          .fastest = convert(train::smallest_fast_batch(search))};
}

namespace {

namespace fs = std::filesystem;

constexpr int64_t kWarmUpSteps = 20;
constexpr double kWarmUpSeconds = 0.2;
constexpr int64_t kStepsInBlock = 10;
constexpr std::string_view kMeasuring = "measuring steps";

/// A folder that is removed with its contents at the end of the scope.
class TemporaryFolder {
 public:
  // Creates the folder on the disk that the run would write to, if `output_dir` exists, because
  // another disk may have another speed.
  explicit TemporaryFolder(const fs::path& output_dir) {
    std::error_code ignored;
    const bool is_there = fs::is_directory(output_dir, ignored);
    path_ =
        (is_there ? output_dir : temporary_folder()) / fmt::format(".trainer_profile_{}", getpid());
    fs::create_directories(path_);
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

// Runs one step and returns the number of its rows.
int64_t make_step(train::Session& session) {
  const train::StepStats stats = train::run_step(session);
  train::advance(session, stats);
  if (train::epoch_is_complete(session)) {
    train::finish_interval(session);
    train::finish_epoch(session);
  }
  return stats.num_samples;
}

void warm_up(train::Session& session) {
  const TimedStage timed(Stage::kUnmeasured);
  const TimelinePause pause;
  const Stopwatch stopwatch;
  for (int64_t i = 0; i < kWarmUpSteps && stopwatch.seconds() < kWarmUpSeconds; ++i) {
    make_step(session);
  }
}

void make_steps(train::Session& session, const ProfileRequest& request, ProfileReport& report) {
  const LongWork measuring(kMeasuring);
  const auto make_block = [&](std::vector<double>& seconds) {
    int64_t rows = 0;
    const int64_t done = std::ssize(seconds);
    for (int64_t i = std::min(kStepsInBlock, request.num_steps - done); i > 0; --i) {
      const Stopwatch stopwatch;
      rows += make_step(session);
      seconds.push_back(stopwatch.seconds());
    }
    return rows;
  };
  while (std::ssize(report.step_seconds) < request.num_steps) {
    {
      const TimedStage timed(Stage::kUnmeasured);
      const TimelinePause pause;
      make_block(report.step_seconds_bare);
    }
    report.workload.rows += make_block(report.step_seconds);
    if (stop_request() != 0) {
      throw Error(ErrorKind::kRuntime, "stopped by a signal; nothing was written");
    }
    report_long_work(kMeasuring, static_cast<double>(std::ssize(report.step_seconds)) /
                                     static_cast<double>(request.num_steps));
  }
}

void evaluate(train::Session& session) {
  const TimedStage timed(Stage::kEvaluate);
  if (session.validation) session.step->evaluate(*session.validation);
}

void write_checkpoint(const train::Session& session, const ProfileRequest& request) {
  const TemporaryFolder folder(request.config.config.output_dir);
  const TimedStage timed(Stage::kSave);
  checkpoint::Checkpoint checkpoint = train::snapshot(session);
  checkpoint.config = config::dump(request.config);
  checkpoint::Store(folder.path(), /*keep_last=*/1)
      .save(checkpoint, checkpoint::SaveReason::kOther, checkpoint::Store::IsBest::kNo);
}

}  // namespace

ProfileReport run_profile(const ProfileRequest& request) {
  TrialSession trial = open_trial_session(request.config.config);
  train::Session& session = *trial.session;
  decide_threads(session, std::nullopt, /*sharing=*/1, trial.decisions);
  ProfileReport report;
  warm_up(session);
  make_steps(session, request, report);
  evaluate(session);
  write_checkpoint(session, request);
  const int64_t rows = report.workload.rows;
  report.workload = describe_workload(session, trial.decisions, rows);
  return report;
}

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
