// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include <ATen/ops/linalg_vector_norm.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "trainer/train/session.h"

#include "support/enums.h"
#include "support/sessions.h"
#include "support/tensors.h"

namespace trainer::train {
namespace {

using config::Activation;
using config::Norm;
using config::StepKind;
using test::close;
using test::identical;

config::Config base_config() {
  config::Config config = test::small_config();
  config.data.synthetic = {.num_samples = 70, .num_features = 21, .num_classes = 3};
  config.data.validation_fraction = 0;
  config.data.test_fraction = 0;
  config.model.hidden_sizes = {40, 40, 40};
  config.training.batch_size = 35;
  config.training.gradient_clip_norm = 0.5;
  return config;
}

// Two numbers to predict in place of the classes.
void make_regression(data::Datasets& datasets) {
  datasets.schema.task = config::Task::kRegression;
  datasets.schema.labels.clear();
  datasets.schema.target_names = {"u", "v"};
  datasets.schema.target_scaling = {{0, 0}, {1, 1}};
  data::Dataset& train = datasets.train;
  for (int64_t row = 0; row < train.size(); ++row) {
    const auto first = static_cast<float>(data::value_at(train.features, row, 0));
    const auto second = static_cast<float>(data::value_at(train.features, row, 1));
    train.values.push_back(first + second);
    train.values.push_back(first * second);
  }
}

data::Datasets make_datasets(const config::Config& config) {
  data::Datasets datasets = data::load_datasets(config.data, static_cast<uint64_t>(config.seed));
  if (config::is_for_regression(config.training.loss)) make_regression(datasets);
  if (config.data.weight.empty()) return datasets;
  for (int64_t row = 0; row < datasets.train.size(); ++row) {
    datasets.train.weights.push_back(0.25F * static_cast<float>(row % 8));
  }
  return datasets;
}

std::unique_ptr<Session> make_session_with(config::Config config, StepKind kind,
                                           int64_t num_threads = 1) {
  config.training.step = kind;
  auto session = make_session(config, make_datasets(config), c10::kCPU);
  use_threads(*session, num_threads);
  return session;
}

double norm(const at::Tensor& tensor) { return at::linalg_vector_norm(tensor, 2).item<double>(); }

// Loss and gradient of one step; 1e-5 relative, of each parameter by itself. Where a gradient is
// zero but for rounding (a bias in front of a batch norm), of the whole gradient.
void expect_same_step(Session& fused, double fused_factor, Session& autograd) {
  const StepStats a = fused.step->run(next_window(fused), {.learning_rate = 0.01});
  const StepStats b = autograd.step->run(next_window(autograd), {.learning_rate = 0.01});
  EXPECT_NEAR(a.loss_sum, b.loss_sum, 1e-5F * std::abs(b.loss_sum));
  EXPECT_NEAR(a.grad_norm, b.grad_norm, 1e-5F * b.grad_norm);
  EXPECT_EQ(a.num_correct, b.num_correct);
  EXPECT_EQ(a.num_samples, b.num_samples);
  const model::FlatParameters& x = fused.model.parameters();
  const model::FlatParameters& y = autograd.model.parameters();
  const double whole = norm(y.gradients);
  for (std::size_t i = 0; i < x.specs.size(); ++i) {
    const at::Tensor actual = parameter_view(x, x.gradients, i).mul(fused_factor);
    const at::Tensor expected = parameter_view(y, y.gradients, i);
    EXPECT_LE(norm(actual.sub(expected)), 1e-5 * std::max(norm(expected), 0.05 * whole))
        << x.specs[i].name;
  }
  if (fused.model.buffer_values().defined()) {
    EXPECT_TRUE(close(fused.model.buffer_values(), autograd.model.buffer_values()));
  }
}

void expect_same_steps(const config::Config& config) {
  const auto fused = make_session_with(config, StepKind::kFused, 2);
  const auto autograd = make_session_with(config, StepKind::kAutograd);
  const StepStats stats = autograd->step->run(next_window(*autograd), {.learning_rate = 0});
  const auto again = make_session_with(config, StepKind::kAutograd);
  // LibTorch's gradients are clipped in place, the others on their way into the update.
  const double factor = std::min(1.0, 0.5 / (static_cast<double>(stats.grad_norm) + 1e-6));
  expect_same_step(*fused, factor, *again);
}

// Loss, accuracy and outputs on all rows.
void expect_same_evaluation(const config::Config& config) {
  const auto session = make_session_with(config, StepKind::kFused, 2);
  const Evaluation fused = session->step->evaluate(session->train);
  const Evaluation expected = evaluate(session->model, session->train, session->loss);
  EXPECT_NEAR(fused.loss, expected.loss, 1e-6);
  EXPECT_EQ(fused.num_correct, expected.num_correct);
  ASSERT_EQ(fused.outputs.size(), expected.outputs.size());
  for (std::size_t i = 0; i < fused.outputs.size(); ++i) {
    EXPECT_NEAR(fused.outputs[i], expected.outputs[i], 1e-5);
  }
}

TEST(FusedStepTest, LossAndGradientAreThoseOfAutogradForEveryModel) {
  for (const auto activation : test::every<Activation>()) {
    for (const auto norm : {Norm::kNone, Norm::kBatch, Norm::kLayer}) {
      for (const bool residual : {false, true}) {
        for (const double dropout : {0.0, 0.3}) {
          SCOPED_TRACE(fmt::format("activation {}, norm {}, residual {}, dropout {}",
                                   static_cast<int>(activation), static_cast<int>(norm), residual,
                                   dropout));
          config::Config config = base_config();
          config.model.activation = activation;
          config.model.norm = norm;
          config.model.residual = residual;
          config.model.dropout = dropout;
          expect_same_steps(config);
          config.training.gradient_accumulation_steps = 2;
          config.training.label_smoothing = 0.1;
          config.training.batch_size = 20;  // the last one is shorter
          expect_same_steps(config);
        }
      }
    }
  }
}

TEST(FusedStepTest, LossAndGradientAreThoseOfAutogradForEveryLoss) {
  for (const auto loss : {config::Loss::kCrossEntropy, config::Loss::kBinaryCrossEntropy,
                          config::Loss::kMse, config::Loss::kL1, config::Loss::kHuber}) {
    for (const char* weight : {"", "w"}) {
      SCOPED_TRACE(fmt::format("loss {}, weight \"{}\"", static_cast<int>(loss), weight));
      config::Config config = base_config();
      config.data.weight = weight;
      config.data.synthetic.num_classes = loss == config::Loss::kBinaryCrossEntropy ? 2 : 3;
      config.training.loss = loss;
      config.training.huber_delta = 0.75;
      config.training.batch_size = 20;
      config.training.gradient_accumulation_steps = 2;
      expect_same_steps(config);
      expect_same_evaluation(config);
    }
  }
}

TEST(FusedStepTest, LossAndGradientAreThoseOfAutogradForOtherShapes) {
  using Sizes = std::vector<int64_t>;
  for (const Sizes& sizes : {Sizes{1}, Sizes{33, 7}, Sizes{300}, Sizes{128, 64, 32, 16}}) {
    for (const int64_t num_classes : {2, 19, 40}) {
      SCOPED_TRACE(fmt::format("{} and {} classes", fmt::join(sizes, "-"), num_classes));
      config::Config config = base_config();
      config.data.synthetic.num_classes = num_classes;
      config.data.synthetic.num_samples = 200;
      config.training.batch_size = 150;
      config.model.hidden_sizes = sizes;
      config.model.activation = Activation::kTanh;
      expect_same_steps(config);
    }
  }
}

TEST(FusedStepTest, LossAndGradientAreThoseOfAutogradForFrozenParts) {
  using Patterns = std::vector<std::string>;
  for (const auto norm : {Norm::kNone, Norm::kBatch, Norm::kLayer}) {
    for (const Patterns& freeze :
         {Patterns{"layers.0.*", "norms.0.*"}, Patterns{"*.bias"}, Patterns{"layers.*.weight"},
          Patterns{"layers.3.*"}, Patterns{"norms.1.*", "layers.0.*"}}) {
      if (norm == Norm::kNone && freeze[0].starts_with("norms")) continue;
      if (norm == Norm::kNone && freeze.size() > 1) continue;
      SCOPED_TRACE(
          fmt::format("norm {}, frozen {}", static_cast<int>(norm), fmt::join(freeze, " ")));
      config::Config config = base_config();
      config.model.norm = norm;
      config.model.residual = true;
      config.training.freeze = freeze;
      expect_same_steps(config);
    }
  }
}

TEST(FusedStepTest, LossAndGradientAreThoseOfAutogradBehindEmbeddings) {
  const test::TemporaryFolder folder;
  for (const auto norm : {Norm::kNone, Norm::kBatch, Norm::kLayer}) {
    for (const int64_t num_rows : {70, 600}) {  // the kernels go by columns, and by rows
      for (const double dropout : {0.0, 0.3}) {
        SCOPED_TRACE(
            fmt::format("norm {}, {} rows, dropout {}", static_cast<int>(norm), num_rows, dropout));
        config::Config config = test::embedding_config(folder, num_rows);
        config.training.gradient_clip_norm = 0.5;
        config.training.batch_size = num_rows / 2;
        config.model.hidden_sizes = {40, 40, 40};
        config.model.norm = norm;
        config.model.residual = true;
        config.model.dropout = dropout;
        expect_same_steps(config);
        config.training.gradient_accumulation_steps = 2;
        config.training.batch_size = num_rows / 2 - 13;
        config.data.embedding_size = 50;
        expect_same_steps(config);
      }
    }
  }
}

// The parts of RealMLP, of which each may be alone or frozen.
TEST(FusedStepTest, LossAndGradientAreThoseOfAutogradForEveryPartBeforeTheFirstLayer) {
  using Texts = std::vector<std::string>;
  const test::TemporaryFolder folder;
  for (const int64_t num_rows : {70, 600}) {
    for (const int parts : {1, 2, 3, 4, 5, 6, 7, 8, 11}) {
      for (const Texts& freeze :
           {Texts{}, Texts{"input_scale.*"}, Texts{"numeric_embeddings.*", "embeddings.*"},
            Texts{"*.phases", "*.bias"}, Texts{"activations.*"}, Texts{"layers.*"}}) {
        config::Config config = test::embedding_config(folder, num_rows);
        config.training.gradient_clip_norm = 0.5;
        config.training.batch_size = num_rows / 2;
        config.data.smooth_clip = 1;
        config.model.hidden_sizes = {40, 24};
        config.model.dropout = 0.2;
        config.model.activation = parts % 2 == 0 ? Activation::kSelu : Activation::kMish;
        config.model.parametric_activation = (parts & 1) != 0;
        config.model.input_scale = (parts & 2) != 0;
        if ((parts & 4) != 0) config.model.numeric_embedding = config::NumericEmbedding::kPeriodic;
        if ((parts & 8) != 0) {
          config.model.numeric_embedding = config::NumericEmbedding::kPiecewiseLinear;
          config.model.num_bins = 7;
        }
        const auto is_there = [&](const std::string& pattern) {
          if (pattern.starts_with("input")) return config.model.input_scale;
          if (pattern.starts_with("activations")) return config.model.parametric_activation;
          if (pattern.starts_with("numeric")) return (parts & 12) != 0;
          if (pattern == "*.phases") return (parts & 4) != 0;
          return true;
        };
        for (const std::string& pattern : freeze) {
          if (is_there(pattern)) config.training.freeze.push_back(pattern);
        }
        SCOPED_TRACE(fmt::format("{} rows, parts {}, frozen {}", num_rows, parts,
                                 fmt::join(config.training.freeze, " ")));
        expect_same_steps(config);
        config.training.gradient_accumulation_steps = 2;
        config.training.batch_size = num_rows / 2 - 13;
        expect_same_steps(config);
      }
    }
  }
}

config::Config members_config(const test::TemporaryFolder& folder, int64_t num_rows) {
  config::Config config = test::embedding_config(folder, num_rows);
  config.training.gradient_clip_norm = 0.5;
  config.training.batch_size = num_rows / 2 - 13;  // the last one is shorter
  config.training.gradient_accumulation_steps = 2;
  config.model.ensemble_size = 4;
  config.model.hidden_sizes = {40, 24, 24};
  config.model.dropout = 0.2;
  return config;
}

TEST(FusedStepTest, LossAndGradientAreThoseOfAutogradForMembers) {
  using Texts = std::vector<std::string>;
  const test::TemporaryFolder folder;
  for (const int64_t num_rows : {70, 600}) {
    for (const auto norm : {Norm::kNone, Norm::kBatch, Norm::kLayer}) {
      for (const Texts& freeze :
           {Texts{}, Texts{"input_scale.*"}, Texts{"numeric_embeddings.*", "embeddings.*"},
            Texts{"layers.3.*"}, Texts{"*.bias"}, Texts{"layers.*"}}) {
        SCOPED_TRACE(fmt::format("{} rows, norm {}, frozen {}", num_rows, static_cast<int>(norm),
                                 fmt::join(freeze, " ")));
        config::Config config = members_config(folder, num_rows);
        config.model.norm = norm;
        config.model.numeric_embedding = config::NumericEmbedding::kPeriodic;
        config.training.freeze = freeze;
        expect_same_steps(config);
      }
    }
  }
  config::Config config = members_config(folder, 70);
  config.model.num_layers = 0;
  config.model.hidden_sizes = {};
  expect_same_steps(config);
}

TEST(FusedStepTest, LossAndOutputsOfMembersAreThoseOfLibTorchForEveryLoss) {
  for (const auto loss : {config::Loss::kCrossEntropy, config::Loss::kBinaryCrossEntropy,
                          config::Loss::kMse, config::Loss::kL1, config::Loss::kHuber}) {
    for (const char* weight : {"", "w"}) {
      SCOPED_TRACE(fmt::format("loss {}, weight \"{}\"", static_cast<int>(loss), weight));
      config::Config config = base_config();
      config.model.ensemble_size = 4;
      config.data.weight = weight;
      config.data.synthetic.num_classes = loss == config::Loss::kBinaryCrossEntropy ? 2 : 3;
      config.training.loss = loss;
      config.training.batch_size = 20;
      config.training.label_smoothing = loss == config::Loss::kCrossEntropy ? 0.1 : 0;
      expect_same_steps(config);
      expect_same_evaluation(config);
    }
  }
}

TEST(FusedStepTest, AnyNumberOfThreadsGivesTheSameBitsForMembers) {
  const test::TemporaryFolder folder;
  for (const int64_t ensemble_size : {3, 5, 64}) {
    for (const auto norm : {Norm::kNone, Norm::kBatch}) {
      config::Config config = members_config(folder, 200);
      config.model.norm = norm;
      config.model.ensemble_size = ensemble_size;
      config.model.numeric_embedding = config::NumericEmbedding::kPeriodic;
      const auto one = make_session_with(config, StepKind::kFused, 1);
      for (int i = 0; i < 3; ++i) test::make_step(*one);
      const Evaluation expected = one->step->evaluate(one->train);
      for (const int64_t num_threads : {2, 3, 5}) {
        const auto several = make_session_with(config, StepKind::kFused, num_threads);
        for (int i = 0; i < 3; ++i) test::make_step(*several);
        EXPECT_TRUE(identical(several->model.parameters().values, one->model.parameters().values));
        EXPECT_EQ(several->step->evaluate(several->train).outputs, expected.outputs);
      }
    }
  }
}

TEST(FusedStepTest, AnyNumberOfThreadsGivesTheSameBitsForRealMlp) {
  const test::TemporaryFolder folder;
  config::Config config = test::embedding_config(folder, 600);
  config.training.batch_size = 101;
  config.model.hidden_sizes = {40, 40, 40};
  config.model.activation = Activation::kSelu;
  config.model.parametric_activation = true;
  config.model.input_scale = true;
  config.model.numeric_embedding = config::NumericEmbedding::kPeriodic;
  config.model.init = config::Init::kData;
  config.model.parametrization = config::Parametrization::kNtk;
  const auto one = make_session_with(config, StepKind::kFused, 1);
  const auto several = make_session_with(config, StepKind::kFused, 3);
  EXPECT_TRUE(identical(several->model.parameters().values, one->model.parameters().values));
  for (int i = 0; i < 5; ++i) test::make_step(*one);
  for (int i = 0; i < 5; ++i) test::make_step(*several);
  EXPECT_TRUE(identical(several->model.parameters().values, one->model.parameters().values));
}

TEST(FusedStepTest, LossAndGradientAreThoseOfAutogradForOtherShapesBehindEmbeddings) {
  using Texts = std::vector<std::string>;
  const test::TemporaryFolder folder;
  config::Config config = test::embedding_config(folder, 90);
  config.training.gradient_clip_norm = 0.5;
  config.training.batch_size = 90;
  config.model.activation = Activation::kTanh;
  for (const auto& sizes : {std::vector<int64_t>{}, std::vector<int64_t>{33, 7}}) {
    config.model.num_layers = 0;
    config.model.hidden_sizes = sizes;
    for (const Texts& ignored : {Texts{}, Texts{"a", "b"}, Texts{"few"}}) {
      config.data.ignore = ignored;
      for (const Texts& freeze : {Texts{}, Texts{"layers.*"}, Texts{"embeddings.0.*"},
                                  Texts{"embeddings.*"}, Texts{"layers.0.*"}}) {
        SCOPED_TRACE(fmt::format("{} without {}, frozen {}", fmt::join(sizes, "-"),
                                 fmt::join(ignored, " "), fmt::join(freeze, " ")));
        config.training.freeze = freeze;
        expect_same_steps(config);
      }
    }
  }
}

/// Every update rule with its options.
struct Rule {
  std::string name;
  std::function<void(config::TrainingConfig&)> set;
};

const std::vector<Rule>& rules() {
  using config::OptimizerName;
  static const std::vector<Rule> all = {
      {"adamw", [](auto& t) { t.optimizer.name = OptimizerName::kAdamw; }},
      {"adam", [](auto& t) { t.optimizer.name = OptimizerName::kAdam; }},
      {"sgd", [](auto& t) { t.optimizer.name = OptimizerName::kSgd; }},
      {"sgd without momentum",
       [](auto& t) {
         t.optimizer.name = OptimizerName::kSgd;
         t.optimizer.momentum = 0;
       }},
      {"nesterov",
       [](auto& t) {
         t.optimizer.name = OptimizerName::kSgd;
         t.optimizer.nesterov = true;
       }},
      // The momentum is of gradients divided by their size: rounding counts more where they are
      // small.
      {"rmsprop",
       [](auto& t) {
         t.optimizer.name = OptimizerName::kRmsprop;
         t.optimizer.beta2 = 0.9;
         t.optimizer.epsilon = 1e-2;
       }},
      {"rmsprop without momentum",
       [](auto& t) {
         t.optimizer.name = OptimizerName::kRmsprop;
         t.optimizer.beta2 = 0.9;
         t.optimizer.epsilon = 1e-2;
         t.optimizer.momentum = 0;
       }},
      {"factors",
       [](auto& t) {
         t.lr_factors = {"*.bias=0.1", "layers.0.*=6"};
       }},
      {"schedules", [](auto& t) {
         t.schedule.dropout = config::FactorSchedule::kFlatCosine;
         t.schedule.weight_decay = config::FactorSchedule::kFlatCosine;
       }}};
  return all;
}

TEST(FusedStepTest, WeightsAndMomentsAfterSeveralStepsAreThoseOfAutograd) {
  for (const Rule& rule : rules()) {
    for (const bool decay_all : {false, true}) {
      for (const double ema_decay : {0.0, 0.9}) {
        SCOPED_TRACE(
            fmt::format("{}, decay of all {}, average {}", rule.name, decay_all, ema_decay));
        config::Config config = base_config();
        config.model.activation = Activation::kGelu;
        config.model.norm = Norm::kLayer;
        config.model.dropout = 0.2;
        config.training.optimizer.weight_decay = 0.1;
        // As large as the noise of rounding in a gradient that is nearly zero.
        config.training.optimizer.epsilon = 1e-4;
        config.training.optimizer.decay_bias_and_norm = decay_all;
        config.training.ema_decay = ema_decay;
        rule.set(config.training);
        const auto fused = make_session_with(config, StepKind::kFused);
        const auto autograd = make_session_with(config, StepKind::kAutograd);
        for (int i = 0; i < 6; ++i) {
          test::make_step(*fused);
          test::make_step(*autograd);
        }
        EXPECT_EQ(fused->optimizer_state.step, 6);
        EXPECT_TRUE(close(fused->model.parameters().values, autograd->model.parameters().values,
                          2e-6, 1e-5));
        const auto& moments = fused->optimizer_state.moments;
        for (std::size_t i = 0; i < moments.size(); ++i) {
          EXPECT_TRUE(
              close(moments[i].tensor, autograd->optimizer_state.moments[i].tensor, 2e-6, 1e-5))
              << moments[i].name;
        }
      }
    }
  }
}

TEST(FusedStepTest, AnyNumberOfThreadsGivesTheSameBits) {
  config::Config config = base_config();
  config.model.norm = Norm::kBatch;
  config.model.dropout = 0.2;
  config.training.gradient_accumulation_steps = 2;
  config.training.batch_size = 10;
  const auto one = make_session_with(config, StepKind::kFused, 1);
  for (int i = 0; i < 5; ++i) test::make_step(*one);
  const Evaluation expected = one->step->evaluate(one->train);
  for (const int64_t num_threads : {2, 5}) {
    const auto several = make_session_with(config, StepKind::kFused, num_threads);
    for (int i = 0; i < 5; ++i) test::make_step(*several);
    EXPECT_TRUE(identical(several->model.parameters().values, one->model.parameters().values));
    EXPECT_TRUE(identical(several->model.buffer_values(), one->model.buffer_values()));
    EXPECT_EQ(several->step->evaluate(several->train).loss, expected.loss);
  }
}

TEST(FusedStepTest, AnyNumberOfThreadsGivesTheSameBitsBehindEmbeddings) {
  const test::TemporaryFolder folder;
  for (const auto norm : {Norm::kNone, Norm::kBatch, Norm::kLayer}) {
    config::Config config = test::embedding_config(folder, 500);
    config.model.norm = norm;
    config.training.batch_size = 130;
    config.training.gradient_accumulation_steps = 2;
    config.data.embedding_size = 4096;  // more than one part of a table
    const auto one = make_session_with(config, StepKind::kFused, 1);
    for (int i = 0; i < 3; ++i) test::make_step(*one);
    const Evaluation expected = one->step->evaluate(one->train);
    for (const int64_t num_threads : {2, 3, 5}) {
      const auto several = make_session_with(config, StepKind::kFused, num_threads);
      for (int i = 0; i < 3; ++i) test::make_step(*several);
      EXPECT_TRUE(identical(several->model.parameters().values, one->model.parameters().values));
      EXPECT_EQ(several->step->evaluate(several->train).loss, expected.loss);
    }
  }
}

TEST(FusedStepTest, EvaluationIsThatOfLibTorch) {
  for (const auto norm : {Norm::kNone, Norm::kBatch, Norm::kLayer}) {
    config::Config config = base_config();
    config.data.synthetic.num_samples = 1000;  // more than one part
    config.model.norm = norm;
    config.model.dropout = 0.2;
    const auto session = make_session_with(config, StepKind::kFused);
    test::make_step(*session);
    const Evaluation fused = session->step->evaluate(session->train);
    const Evaluation expected = evaluate(session->model, session->train, session->loss);
    EXPECT_NEAR(fused.loss, expected.loss, 1e-6);
    EXPECT_EQ(fused.num_correct, expected.num_correct);
    EXPECT_EQ(fused.num_samples, expected.num_samples);
  }
}

TEST(FusedStepTest, RehearsingChangesNothing) {
  for (const auto kind : {StepKind::kFused, StepKind::kAutograd}) {
    config::Config config = base_config();
    config.model.norm = Norm::kBatch;
    const auto session = make_session_with(config, kind);
    const auto other = make_session_with(config, kind);
    session->step->rehearse(next_window(*session));
    EXPECT_TRUE(identical(session->model.parameters().values, other->model.parameters().values));
    EXPECT_TRUE(identical(session->model.buffer_values(), other->model.buffer_values()));
    test::make_step(*session);
    test::make_step(*other);
    EXPECT_TRUE(identical(session->model.parameters().values, other->model.parameters().values));
  }
}

}  // namespace
}  // namespace trainer::train
