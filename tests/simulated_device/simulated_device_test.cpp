// SPDX-License-Identifier: Apache-2.0
// The simulated device itself: what other tests rely on.
#include <chrono>
#include <cmath>
#include <string>
#include <vector>

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Context.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/add.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/batch_norm.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/full.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <gtest/gtest.h>

#include "simulated_device/memory.h"
#include "simulated_device/state.h"
#include "simulated_device/stray_access.h"

namespace trainer::test::simulated {
namespace {

at::TensorOptions on_device(at::ScalarType dtype = at::kFloat) {
  return at::TensorOptions().device(the_device()).dtype(dtype);
}

bool has_same_bits(const at::Tensor& a, const at::Tensor& b) {
  return at::equal(a.detach().cpu(), b.detach().cpu());
}

/// Each test begins with a healthy device.
class SimulatedDeviceTest : public testing::Test {
 protected:
  void SetUp() override {
    state().behaviour = {};
    state().behaviour.has_float64 = false;
    reset_counters();
  }
  void TearDown() override { state().behaviour = {}; }

  static Behaviour& behaviour() { return state().behaviour; }
};

/// What LibTorch says, without where it says it.
template <class Function>
std::string problem_of(const Function& function) {
  try {
    function();
  } catch (const c10::Error& e) {
    return e.what_without_backtrace();
  }
  return "";
}

TEST_F(SimulatedDeviceTest, IsTheDeviceThatLibTorchAsksFor) {
  EXPECT_TRUE(at::hasMPS());
  EXPECT_EQ(at::ones({2}, at::TensorOptions().device("mps")).device(), the_device());
}

// Two linear layers with a norm between them, their gradients, and Adam: what training consists of.
struct Parameters {
  at::Tensor first;
  at::Tensor gain;
  at::Tensor second;

  explicit Parameters(c10::Device device) {
    const auto generator = at::detail::createCPUGenerator(7);
    const auto make = [&](at::IntArrayRef shape) {
      return at::randn(shape, generator).mul_(0.3).to(device).requires_grad_();
    };
    first = make({16, 10});
    gain = make({16});
    second = make({4, 16});
  }
  std::vector<at::Tensor> all() const { return {first, gain, second}; }
};

at::Tensor loss_after_steps(c10::Device device, bool has_batch_norm) {
  Parameters parameters(device);
  const auto generator = at::detail::createCPUGenerator(3);
  const at::Tensor x = at::randn({32, 10}, generator).to(device);
  const at::Tensor y = at::randint(0, 4, {32}, generator, at::kLong).to(device);
  std::vector<at::Tensor> moments;
  for (const at::Tensor& p : parameters.all()) moments.push_back(at::zeros_like(p));
  at::Tensor loss;
  for (int step = 0; step < 10; ++step) {
    at::Tensor h = at::linear(x, parameters.first);
    h = has_batch_norm ? at::batch_norm(h, parameters.gain, {}, {}, {}, true, 0.1, 1e-5, false)
                       : at::layer_norm(h, {16}, parameters.gain, {}, 1e-5);
    loss = at::cross_entropy_loss(at::linear(at::gelu(h), parameters.second), y);
    loss.backward();
    const at::NoGradGuard no_grad;
    for (std::size_t i = 0; i < moments.size(); ++i) {
      at::Tensor p = parameters.all()[i];
      moments[i].mul_(0.9).add_(p.grad(), 0.1);
      p.addcdiv_(moments[i], p.grad().abs().add_(1e-3), -0.01);
      p.mutable_grad().zero_();
    }
  }
  return loss;
}

TEST_F(SimulatedDeviceTest, TrainsToTheBitsOfTheCpu) {
  for (const bool has_batch_norm : {false, true}) {
    const at::Tensor expected = loss_after_steps(c10::kCPU, has_batch_norm);
    const at::Tensor loss = loss_after_steps(the_device(), has_batch_norm);
    EXPECT_EQ(loss.device(), the_device());
    EXPECT_TRUE(has_same_bits(loss, expected)) << loss << expected;
  }
  EXPECT_EQ(counters().bytes, 0);
}

TEST_F(SimulatedDeviceTest, ViewsInPlaceOperatorsAndResizedTensorsAreThoseOfTheCpu) {
  at::Tensor t = at::arange(12, on_device()).view({3, 4});
  at::Tensor out = at::empty({0}, on_device());
  at::add_out(out, t, t);
  EXPECT_TRUE(has_same_bits(out, at::arange(12, at::kFloat).view({3, 4}).mul(2)));
  t.t_();
  EXPECT_EQ(t.size(0), 4);
  EXPECT_EQ(t.stride(0), 1);
  at::Tensor resized = at::zeros({2}, on_device());
  resized.resize_({4}).fill_(3);
  EXPECT_TRUE(has_same_bits(resized, at::full({4}, 3.0F)));
  at::Tensor same = at::empty({0}, on_device());
  same.set_(t);
  EXPECT_TRUE(same.is_alias_of(t));
  t.select(1, 0).narrow(0, 1, 2).zero_();
  EXPECT_EQ(t.cpu()[1][0].item<float>(), 0);
  const std::vector<at::Tensor> parts = at::cat({t, t}, 0).split(3, 0);
  EXPECT_TRUE(parts[0].is_alias_of(parts[1]));
  at::Tensor table = at::ones({4, 3}).to(the_device()).requires_grad_();
  at::embedding(table, at::tensor({0, 2, 0}, at::kLong).to(the_device())).sum().backward();
  EXPECT_EQ(table.grad().cpu()[0][0].item<float>(), 2);
}

TEST_F(SimulatedDeviceTest, OnlyOperatorsTouchItsMemory) {
  const at::Tensor t = at::ones({4}, on_device());
  EXPECT_TRUE(touches_device_memory([&] {
    const volatile float x = *t.data_ptr<float>();
    static_cast<void>(x);
  }));
  EXPECT_TRUE(touches_device_memory([&] { *t.data_ptr<float>() = 1; }));
  EXPECT_TRUE(touches_device_memory([&] { at::from_blob(t.data_ptr(), {4}).sum(); }));
  EXPECT_FALSE(touches_device_memory([&] { *t.cpu().data_ptr<float>() = 1; }));
  EXPECT_TRUE(at::empty({3}, on_device()).isnan().all().item<bool>());
}

TEST_F(SimulatedDeviceTest, AStrayAccessIsNamed) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const at::Tensor t = at::ones({4}, on_device());
  EXPECT_DEATH(
      *t.data_ptr<float>() = 1,
      "the CPU touches device memory at .* \\(made by aten::.*\\) outside an operator; the "
      "last operator of this thread was aten::");
}

TEST_F(SimulatedDeviceTest, HasNoFloat64AsMpsHasNone) {
  const std::string expected =
      "Cannot convert a MPS Tensor to float64 dtype as the MPS framework doesn't support float64. "
      "Please use float32 instead.";
  EXPECT_EQ(problem_of([] { at::ones({2}, on_device(at::kDouble)); }), expected);
  EXPECT_EQ(problem_of([] { at::ones({2}, at::kDouble).to(the_device()); }), expected);
  EXPECT_EQ(problem_of([] { at::ones({2}, on_device()).sum(at::kDouble); }), expected);
  EXPECT_EQ(problem_of([] { at::empty({2}, on_device()).copy_(at::ones({2}, at::kDouble)); }), "");
  behaviour().has_bfloat16 = false;
  EXPECT_EQ(problem_of([] { at::ones({2}, on_device(at::kBFloat16)); }),
            "MPS BFloat16 is only supported on MacOS 14 or newer");
}

TEST_F(SimulatedDeviceTest, RefusesWhatADeviceRefuses) {
  behaviour().missing = {"aten::median"};
  EXPECT_TRUE(
      problem_of([] {
        at::ones({2}, on_device()).median();
      }).starts_with("The operator 'aten::median' is not currently implemented for the MPS"));
  EXPECT_EQ(problem_of([] { at::ones({2}, on_device()).add(at::ones({2})); }),
            "Expected all tensors to be on the same device, but found at least two devices, mps:0 "
            "and cpu! (in aten::add)");
  EXPECT_EQ(problem_of([] { at::ones({2}, on_device()).add(2.0); }), "");
}

TEST_F(SimulatedDeviceTest, RunsOutOfMemoryAndGoesOn) {
  behaviour().max_bytes = 100'000;
  EXPECT_EQ(problem_of([] {
              std::vector<at::Tensor> all;
              for (;;) all.push_back(at::ones({10'000}, on_device()));
            }).substr(0, 57),
            "MPS backend out of memory (MPS allocated: 78.12 KB, other");
  EXPECT_EQ(problem_of([] { at::ones({10'000}, on_device()); }), "");
  behaviour().max_bytes = 0;
  behaviour().max_buffer_bytes = 1000;
  EXPECT_EQ(problem_of([] { at::ones({1000}, on_device()); }), "Invalid buffer size: 3.94 KB");
}

TEST_F(SimulatedDeviceTest, FailsWhereItIsTold) {
  const std::string failure = "MPS: command buffer exited with error status: Internal Error";
  const at::Tensor t = at::ones({2}, on_device());
  behaviour().fail_in = 2;
  t.add(1);
  EXPECT_EQ(problem_of([&] { t.add(1); }), failure);
  EXPECT_EQ(problem_of([&] { t.add(1); }), "");
  behaviour().nan_in = 1;
  EXPECT_TRUE(std::isnan(t.add(1).sum().item<float>()));
  EXPECT_EQ(t.add(1).sum().item<float>(), 4);
  behaviour().fail_in = 1;
  behaviour().fails_late = true;
  const at::Tensor late = t.add(1);
  EXPECT_EQ(problem_of([&] { late.cpu(); }), failure);
  behaviour().fails_late = false;
  behaviour().lose_in = 2;
  t.add(1);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(problem_of([&] { t.add(1); }), failure);
}

TEST_F(SimulatedDeviceTest, CountsWhatItDoes) {
  const at::Tensor t = at::ones({3}, on_device());
  reset_counters();
  const float sum = t.add(1).narrow(0, 1, 2).sum().item<float>();
  EXPECT_EQ(sum, 4);
  const Counters c = counters();
  EXPECT_EQ(c.by_operator.at("aten::add.Tensor"), 1);
  EXPECT_EQ(c.views, 1);
  EXPECT_EQ(c.waits, 1);
  EXPECT_EQ(c.to_device, 0);
  reset_counters();
  at::ones({3}).to(the_device()).cpu();
  EXPECT_EQ(counters().to_device, 1);
  EXPECT_EQ(counters().to_host, 1);
}

TEST_F(SimulatedDeviceTest, TheHostGoesOnWhileItWorks) {
  using Clock = std::chrono::steady_clock;
  const at::Tensor t = at::ones({3}, on_device());
  behaviour().operator_microseconds = 10'000;
  const auto begin = Clock::now();
  t.add(1).cpu();
  EXPECT_GE(Clock::now() - begin, std::chrono::milliseconds(20));
  behaviour().operator_microseconds = 3'600'000'000;
  const auto before = Clock::now();
  t.add(1);  // which is over in an hour
  EXPECT_GE(state().busy_until, before + std::chrono::hours(1));
  state().busy_until = {};
}

}  // namespace
}  // namespace trainer::test::simulated
