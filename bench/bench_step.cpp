// SPDX-License-Identifier: Apache-2.0
// The training step on the CPU: by model and batch, by number of threads, fused and autograd,
// relative to the peak FLOP/s of this machine, measured in the same run. Flags are Google
// Benchmark's: --benchmark_filter=fused/tiny, --benchmark_format=json, ...
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "trainer/base/parallel/cpus.h"
#include "trainer/base/time/timeline.h"
#include "trainer/config/recipe.h"
#include "trainer/diagnose/profile/workload.h"
#include "trainer/nn/cpu/buffer.h"
#include "trainer/nn/cpu/kernels.h"
#include "trainer/nn/cpu/peak.h"

#include "training.h"

namespace trainer {
namespace {

using bench::Workload;

void use_realmlp(config::Config& config) {
  const std::vector<int64_t> hidden_sizes = config.model.hidden_sizes;
  const int64_t batch_size = config.training.batch_size;
  const config::StepKind step = config.training.step;
  config::set_recipe(config, config::Recipe::kRealmlp);
  config::complete_recipe(config, {.task = config::Task::kClassification, .num_train = 10'000});
  config.model.hidden_sizes = hidden_sizes;
  config.training.batch_size = batch_size;
  config.training.step = step;
  config.training.best_metric = config::BestMetric::kLoss;  // there is no validation split
  config.training.calibrate = false;
}

void use_members(config::Config& config) {
  config.model.ensemble_size = 16;
  config.model.dropout = 0.1;
}

const std::vector<Workload>& workloads() {
  static const std::vector<Workload> all = {
      {"10-128-128-2/batch_32", 10, {128, 128}, 2, 32},
      {"64-128-128-10/batch_32", 64, {128, 128}, 10, 32},
      {"784-256-256-10/batch_128", 784, {256, 256}, 10, 128},
      {"784-1024-1024-10/batch_512", 784, {1024, 1024}, 10, 512},
      {"realmlp_64-256-256-256-10/batch_256", 64, {256, 256, 256}, 10, 256, use_realmlp},
      {"16_members_64-256-256-10/batch_256", 64, {256, 256}, 10, 256, use_members}};
  return all;
}

// Of the products of a step.
double operations(const network::NetworkSpec& network, int64_t batch_size) {
  double per_row = 0;
  for (std::size_t layer = 0; profile::flops_per_row(network, Work::kForward, layer); ++layer) {
    for (const Work work : {Work::kForward, Work::kInputGradient, Work::kWeightGradient}) {
      per_row += profile::flops_per_row(network, work, layer).value_or(0);
    }
  }
  return per_row * static_cast<double>(batch_size);
}

double cached_peak(int64_t num_threads) {
  static std::vector<double> known(static_cast<std::size_t>(usable_cpus()) + 1);
  double& value = known[static_cast<std::size_t>(num_threads)];
  if (value == 0) value = cpu::measure_flops(num_threads);
  return value;
}

void step(benchmark::State& state, const Workload& w, config::StepKind kind, int64_t num_threads) {
  const auto session =
      bench::make_session(w, c10::kCPU, kind, num_threads, config::Precision::kFp32);
  for (auto _ : state) {
    train::StepStats stats = bench::make_step(*session);
    benchmark::DoNotOptimize(stats);
  }
  const double done =
      operations(session->model.spec(), w.batch_size) * static_cast<double>(state.iterations());
  state.SetItemsProcessed(state.iterations() * w.batch_size);
  state.counters["FLOP/s"] = benchmark::Counter(done, benchmark::Counter::kIsRate);
  // The fraction of the peak that was reached.
  state.counters["of_peak"] =
      benchmark::Counter(done / cached_peak(num_threads), benchmark::Counter::kIsRate);
}

enum class Element { kByte, kFloat };

void gather(benchmark::State& state, Element element) {
  const bool as_bytes = element == Element::kByte;
  constexpr int64_t kNumRows = 60000;
  constexpr int64_t kNumFeatures = 784;
  constexpr int64_t kBatch = 128;
  const std::vector<uint8_t> bytes(as_bytes ? kNumRows * kNumFeatures : 0, 7);
  const std::vector<float> floats(as_bytes ? 0 : kNumRows * kNumFeatures, 7.0F);
  const std::vector<float> ones(kNumFeatures, 1.0F);
  std::vector<int64_t> rows(kNumRows);
  for (int64_t i = 0; i < kNumRows; ++i) rows[static_cast<std::size_t>(i)] = i * 7919 % kNumRows;
  const cpu::GatherSource source{as_bytes ? nullptr : floats.data(),
                                 as_bytes ? bytes.data() : nullptr, kNumFeatures, ones.data(),
                                 ones.data()};
  const cpu::Buffer out(kBatch * kNumFeatures);
  int64_t begin = 0;
  for (auto _ : state) {
    cpu::kernels().gather(source, rows.data() + begin, {kBatch, kNumFeatures, kNumFeatures},
                          out.get());
    begin = (begin + kBatch) % (kNumRows - kBatch);
    benchmark::DoNotOptimize(out.get());
  }
  state.SetItemsProcessed(state.iterations() * kBatch);
}

void register_steps(int64_t num_threads) {
  for (const auto& [name, kind] : {std::pair{"fused", config::StepKind::kFused},
                                   std::pair{"autograd", config::StepKind::kAutograd}}) {
    for (const Workload& w : workloads()) {
      benchmark::RegisterBenchmark(
          fmt::format("{}/{}/threads_{}", name, w.name, num_threads).c_str(),
          [&w, k = kind, num_threads](benchmark::State& state) { step(state, w, k, num_threads); })
          ->Unit(benchmark::kMicrosecond)
          ->UseRealTime();
    }
  }
}

}  // namespace
}  // namespace trainer

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  using trainer::usable_cpus;
  fmt::print(
      stderr, "{} kernels; peak of multiply-adds {:.0f} GFLOP/s on one thread, {:.0f} on {}\n",
      trainer::cpu::instruction_set_name(trainer::cpu::kernels().instruction_set),
      trainer::cached_peak(1) * 1e-9, trainer::cached_peak(usable_cpus()) * 1e-9, usable_cpus());
  trainer::register_steps(1);
  if (usable_cpus() > 1) trainer::register_steps(usable_cpus());
  benchmark::RegisterBenchmark("gather/bytes", trainer::gather, trainer::Element::kByte)
      ->Unit(benchmark::kMicrosecond);
  benchmark::RegisterBenchmark("gather/floats", trainer::gather, trainer::Element::kFloat)
      ->Unit(benchmark::kMicrosecond);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
