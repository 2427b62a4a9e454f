// SPDX-License-Identifier: Apache-2.0
// Compares the devices of this machine: one training step (forward, loss, backward, clip, AdamW) of
// two models. Flags are Google Benchmark's: --benchmark_filter=cpu, --benchmark_format=json, ...
#include <memory>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "trainer/core/error.h"
#include "trainer/cpu/cpus.h"
#include "trainer/data/dataset.h"
#include "trainer/device/device.h"
#include "trainer/device/threads.h"
#include "trainer/train/session.h"

namespace trainer {
namespace {

struct Workload {
  std::string name;
  int64_t num_features;
  int64_t num_classes;
  int64_t hidden_size;
  int64_t batch_size;
};

const std::vector<Workload>& workloads() {
  static const std::vector<Workload> all = {{"mlp_10-128-128-2", 10, 2, 128, 32},
                                            {"mlp_784-256-256-10", 784, 10, 256, 128}};
  return all;
}

std::unique_ptr<train::Session> make_session(const Workload& workload, c10::Device device) {
  config::Config config;
  config.data.synthetic.num_samples = 20 * workload.batch_size;
  config.data.synthetic.num_features = workload.num_features;
  config.data.synthetic.num_classes = workload.num_classes;
  config.data.validation_fraction = 0;
  config.data.test_fraction = 0;
  config.model.hidden_size = workload.hidden_size;
  config.training.batch_size = workload.batch_size;
  config.training.schedule.name = config::ScheduleName::kConstant;
  return train::make_session(config, data::load_datasets(config.data, 42), device);
}

void train_steps(benchmark::State& state, const Workload& workload, c10::Device device) {
  const auto session = make_session(workload, device);
  train::StepStats stats;
  for (auto _ : state) {
    stats = session->step->run(train::next_window(*session), 1e-3);
    session->position.samples_in_epoch += stats.num_samples;
    if (session->position.samples_in_epoch == session->train.size()) {
      session->position.samples_in_epoch = 0;
    }
    // Reading a number waits for the device: the time is that of the work, not of its launch.
    benchmark::DoNotOptimize(stats.loss_sum);
  }
  state.SetItemsProcessed(state.iterations() * workload.batch_size);
}

// Registers the device or says that it is absent: no line of the table is missing silently.
void register_device(const std::string& name, const device::Available& available) {
  try {
    const c10::Device device =
        device::choose_device(name, device::Fallback::kForbidden, available).device;
    for (const Workload& workload : workloads()) {
      benchmark::RegisterBenchmark(
          fmt::format("{}_fp32/{}/batch_{}", name, workload.name, workload.batch_size).c_str(),
          [=](benchmark::State& state) { train_steps(state, workload, device); })
          ->Unit(benchmark::kMillisecond)
          ->UseRealTime();
    }
  } catch (const Error&) {
    fmt::print(stderr, "{}: absent on this machine\n", name);
  }
}

}  // namespace
}  // namespace trainer

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  trainer::device::use_threads(trainer::cpu::usable_cpus());
  const trainer::device::Available available = trainer::device::available_devices();
  for (const char* name : {"cpu", "mps", "cuda"}) trainer::register_device(name, available);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
