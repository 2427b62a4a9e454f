// SPDX-License-Identifier: Apache-2.0
// The three matrix products of a linear layer on one thread: our kernels in fp32 and bf16,
// LibTorch's BLAS, and, if it was found at build time, oneDNN, also with weights in its blocked
// layout. Flags are Google Benchmark's: --benchmark_filter=128x256x784, ...
#include <cstdint>
#include <string>
#include <vector>

#include <ATen/Parallel.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/zeros.h>
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#ifdef TRAINER_HAS_ONEDNN
#include <dnnl.hpp>
#endif

#include "trainer/nn/cpu/buffer.h"
#include "trainer/nn/cpu/kernels.h"

namespace trainer {
namespace {

/// A layer and a batch size.
struct Shape {
  int64_t batch, inputs, outputs;
};

const std::vector<Shape>& shapes() {
  static const std::vector<Shape> all = {{32, 10, 128},    {32, 128, 128},   {32, 128, 2},
                                         {128, 784, 256},  {128, 256, 256},  {128, 256, 10},
                                         {512, 784, 1024}, {512, 1024, 1024}};
  return all;
}

/// outputs = inputs * weight^T, input gradient = output gradient * weight, weight gradient =
/// output gradient^T * inputs.
enum class Kind { kForward, kInputGradient, kWeightGradient };

constexpr const char* kind_name(Kind kind) {
  switch (kind) {
    case Kind::kForward:
      return "forward";
    case Kind::kInputGradient:
      return "input_gradient";
    case Kind::kWeightGradient:
      break;
  }
  return "weight_gradient";
}

/// C [m, n] = op(A) op(B), row-major.
struct Problem {
  int64_t m, n, k;
  bool a_transposed = false;
  bool b_transposed = false;
};

Problem make_problem(const Shape& s, Kind kind) {
  switch (kind) {
    case Kind::kForward:
      return {.m = s.batch, .n = s.outputs, .k = s.inputs, .b_transposed = true};
    case Kind::kInputGradient:
      return {.m = s.batch, .n = s.inputs, .k = s.outputs};
    case Kind::kWeightGradient:
      break;
  }
  return {.m = s.outputs, .n = s.inputs, .k = s.batch, .a_transposed = true};
}

struct Matrices {
  explicit Matrices(const Problem& p) : a(p.m * p.k), b(p.k * p.n), c(p.m * p.n) {}
  cpu::Buffer a, b, c;
};

void count(benchmark::State& state, const Problem& p) {
  const double operations = 2.0 * static_cast<double>(p.m * p.n * p.k);
  state.counters["FLOP/s"] = benchmark::Counter(
      operations * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}

void own(benchmark::State& state, const Problem& p, decltype(cpu::Kernels::multiply) multiply) {
  const Matrices m(p);
  const cpu::Kernels& kernels = cpu::kernels();
  const cpu::Buffer scratch(kernels.scratch_floats);
  const cpu::Product product{.num_rows = p.m,
                             .num_columns = p.n,
                             .depth = p.k,
                             .a = m.a.get(),
                             .a_row = p.a_transposed ? 1 : p.k,
                             .a_depth = p.a_transposed ? p.m : 1,
                             .b = m.b.get(),
                             .b_depth = p.b_transposed ? 1 : p.n,
                             .b_column = p.b_transposed ? p.k : 1,
                             .c = m.c.get(),
                             .c_row = p.n,
                             .accumulate = cpu::Accumulate::kNo};
  for (auto _ : state) {
    multiply(product, scratch.get());
    benchmark::ClobberMemory();
  }
  count(state, p);
}

void own_fp32(benchmark::State& state, const Problem& p) { own(state, p, cpu::kernels().multiply); }
void own_bf16(benchmark::State& state, const Problem& p) {
  own(state, p, cpu::kernels().multiply_bf16);
}

// As autograd calls it.
void blas(benchmark::State& state, const Problem& p) {
  const at::Tensor a = p.a_transposed ? at::zeros({p.k, p.m}).t() : at::zeros({p.m, p.k});
  const at::Tensor b = p.b_transposed ? at::zeros({p.n, p.k}).t() : at::zeros({p.k, p.n});
  at::Tensor c = at::zeros({p.m, p.n});
  for (auto _ : state) {
    at::mm_out(c, a, b);
    benchmark::ClobberMemory();
  }
  count(state, p);
}

#ifdef TRAINER_HAS_ONEDNN
void onednn(benchmark::State& state, const Problem& p) {
  const Matrices m(p);
  for (auto _ : state) {
    dnnl::sgemm(p.a_transposed ? 'T' : 'N', p.b_transposed ? 'T' : 'N', p.m, p.n, p.k, 1, m.a.get(),
                p.a_transposed ? p.m : p.k, m.b.get(), p.b_transposed ? p.k : p.n, 0, m.c.get(),
                p.n);
    benchmark::ClobberMemory();
  }
  count(state, p);
}

// B is in the layout that oneDNN prefers, as for weights that nothing else reads.
void onednn_blocked(benchmark::State& state, const Problem& p) {
  using dnnl::memory;
  using Tag = memory::format_tag;
  const Matrices m(p);
  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  dnnl::stream stream(engine);
  const auto type = memory::data_type::f32;
  const memory::desc a({p.m, p.k}, type, p.a_transposed ? Tag::ba : Tag::ab);
  const memory::desc b({p.k, p.n}, type, Tag::any);
  const memory::desc c({p.m, p.n}, type, Tag::ab);
#if DNNL_VERSION_MAJOR >= 3
  const dnnl::matmul::primitive_desc description(engine, a, b, c);
#else
  const dnnl::matmul::primitive_desc description(dnnl::matmul::desc(a, b, c), engine);
#endif
  const dnnl::matmul product(description);
  memory a_memory(a, engine, m.a.get());
  memory b_memory(description.weights_desc(), engine);
  memory c_memory(c, engine, m.c.get());
  for (auto _ : state) {
    product.execute(
        stream, {{DNNL_ARG_SRC, a_memory}, {DNNL_ARG_WEIGHTS, b_memory}, {DNNL_ARG_DST, c_memory}});
    stream.wait();
  }
  count(state, p);
}
#endif

void register_problem(const Shape& s, Kind kind) {
  const Problem p = make_problem(s, kind);
  const auto add = [&](const char* who, void (*function)(benchmark::State&, const Problem&)) {
    benchmark::RegisterBenchmark(
        fmt::format("{}x{}x{}/{}/{}", s.batch, s.outputs, s.inputs, kind_name(kind), who).c_str(),
        [=](benchmark::State& state) { function(state, p); })
        ->Unit(benchmark::kMicrosecond);
  };
  add("own", own_fp32);
  add("own_bf16", own_bf16);
  add("blas", blas);
#ifdef TRAINER_HAS_ONEDNN
  add("onednn", onednn);
  add("onednn_blocked", onednn_blocked);
#endif
}

}  // namespace
}  // namespace trainer

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  at::set_num_threads(1);
  for (const trainer::Shape& shape : trainer::shapes()) {
    for (const auto kind :
         {trainer::Kind::kForward, trainer::Kind::kInputGradient, trainer::Kind::kWeightGradient}) {
      trainer::register_problem(shape, kind);
    }
  }
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
