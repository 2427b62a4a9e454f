// SPDX-License-Identifier: Apache-2.0
// Compares the devices of this machine: one training step (forward, loss, backward, clip, AdamW) of
// two models. Flags are Google Benchmark's: --benchmark_filter=cpu, --benchmark_format=json, ...
#include <string>
#include <vector>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "trainer/core/error.h"
#include "trainer/cpu/cpus.h"
#include "trainer/device/device.h"

#include "training.h"

namespace trainer {
namespace {

using bench::Workload;

const std::vector<Workload>& workloads() {
  static const std::vector<Workload> all = {{"mlp_10-128-128-2", 10, {128, 128}, 2, 32},
                                            {"mlp_784-256-256-10", 784, {256, 256}, 10, 128}};
  return all;
}

void train_steps(benchmark::State& state, const Workload& workload, c10::Device device) {
  const auto session =
      bench::make_session(workload, device, config::StepKind::kAuto, cpu::usable_cpus());
  for (auto _ : state) {
    train::StepStats stats = bench::make_step(*session);
    benchmark::DoNotOptimize(stats);
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
  const trainer::device::Available available = trainer::device::available_devices();
  for (const char* name : {"cpu", "mps", "cuda"}) trainer::register_device(name, available);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
