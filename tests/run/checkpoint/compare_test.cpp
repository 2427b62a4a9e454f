// SPDX-License-Identifier: Apache-2.0
#include "trainer/run/checkpoint/compare.h"

#include <bit>
#include <cmath>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "support/checkpoints.h"

namespace trainer::checkpoint {
namespace {

using test::float_data;
using test::full_checkpoint;

using Change = void (*)(Checkpoint&);

std::optional<std::string> difference_after(Change change) {
  Checkpoint changed = full_checkpoint();
  change(changed);
  return first_difference(full_checkpoint(), changed);
}

struct Case {
  Change change;
  const char* difference;
};

void expect_found(std::initializer_list<Case> cases) {
  for (const Case& c : cases) EXPECT_EQ(difference_after(c.change), c.difference);
}

TEST(CompareTest, EqualStatesAreEqual) {
  EXPECT_EQ(first_difference(full_checkpoint(), full_checkpoint()), std::nullopt);
  EXPECT_EQ(first_difference({}, {}), std::nullopt);
}

TEST(CompareTest, WhatDiffersBetweenEqualRunsDoesNotCount) {
  EXPECT_EQ(difference_after([](Checkpoint& c) {
              c.config = "output_dir: /elsewhere\n";
              c.metrics_bytes = 1;
              c.fingerprints[0].path = "/elsewhere/train.csv";
            }),
            std::nullopt);
}

TEST(CompareTest, AnElementThatDiffersIsNamed) {
  expect_found({{[](Checkpoint& c) {
                   c.model[0].tensor = float_data({2, 3}, {1, 2, 3, 4, 5, 7});
                 },
                 "model layers.0.weight: element 5 is 6 and 7"},
                {[](Checkpoint& c) {
                   c.model[1].tensor = float_data({2}, {-1, 0.25F});
                 },
                 "model layers.0.bias: element 1 is 0.5 and 0.25"},
                {[](Checkpoint& c) {
                   c.moments[1].tensors[0].tensor = float_data({2}, {8, 9});
                 },
                 "optimizer moments exp_avg_sq layers.0.bias: element 0 is 9 and 8"}});
}

TEST(CompareTest, TensorsAreComparedToTheBit) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  const auto with_bias = [](float value) {
    Checkpoint c = full_checkpoint();
    c.model[1].tensor = float_data({2}, {value, 0.5F});
    return c;
  };
  EXPECT_EQ(first_difference(with_bias(kNan), with_bias(kNan)), std::nullopt);
  EXPECT_EQ(first_difference(with_bias(0.0F), with_bias(-0.0F)),
            "model layers.0.bias: element 0 is 0 and -0");
  const auto other_nan = std::bit_cast<float>(std::bit_cast<uint32_t>(kNan) + 1);
  EXPECT_EQ(first_difference(with_bias(kNan), with_bias(other_nan)),
            "model layers.0.bias: element 0 is 0x7fc00000 and 0x7fc00001");
}

TEST(CompareTest, ElementsOfOtherTypesAreShown) {
  const auto difference = [](archive::DType dtype, int64_t a, int64_t b) {
    const auto with = [dtype](const int64_t& bits) {
      Checkpoint c;
      c.model = {{"x", {dtype, {1}, reinterpret_cast<const std::byte*>(&bits), nullptr}}};
      return c;
    };
    return first_difference(with(a), with(b));
  };
  using archive::DType;
  EXPECT_EQ(difference(DType::kInt64, 1, -2), "model x: element 0 is 1 and -2");
  EXPECT_EQ(difference(DType::kInt32, 1, -2), "model x: element 0 is 1 and -2");
  EXPECT_EQ(difference(DType::kFloat64, std::bit_cast<int64_t>(0.5), std::bit_cast<int64_t>(0.25)),
            "model x: element 0 is 0.5 and 0.25");
  EXPECT_EQ(difference(DType::kBFloat16, 0x3f80, 0x3f81),
            "model x: element 0 is 0x3f80 and 0x3f81");
}

TEST(CompareTest, TensorsThatAreMissingOrOfAnotherKindAreNamed) {
  expect_found(
      {{[](Checkpoint& c) { c.model.pop_back(); }, "model layers.0.bias: missing from the second"},
       {[](Checkpoint& c) {
          c.model.push_back({"extra", {}});
        },
        "model extra: missing from the first"},
       {[](Checkpoint& c) { c.model[1].name = "other"; },
        "model layers.0.bias: other at this position in the second"},
       {[](Checkpoint& c) {
          c.model[0].tensor.shape = {3, 2};
        },
        "model layers.0.weight: float32 [2, 3] and float32 [3, 2]"},
       {[](Checkpoint& c) { c.model[1].tensor.dtype = archive::DType::kInt32; },
        "model layers.0.bias: float32 [2] and int32 [2]"},
       {[](Checkpoint& c) { c.moments.pop_back(); },
        "optimizer moments exp_avg_sq: missing from the second"},
       {[](Checkpoint& c) { c.moments[0].name = "momentum"; },
        "optimizer moments exp_avg: momentum at this position in the second"},
       {[](Checkpoint& c) { c.moments[0].tensors.clear(); },
        "optimizer moments exp_avg layers.0.bias: missing from the second"}});
}

TEST(CompareTest, EveryPlainFieldIsCompared) {
  expect_found(
      {{[](Checkpoint& c) { c.optimizer = "sgd"; }, "optimizer name: \"adamw\" and \"sgd\""},
       {[](Checkpoint& c) { c.optimizer_step = 12; }, "optimizer step: 11 and 12"},
       {[](Checkpoint& c) { c.state.position.epoch = 4; }, "progress epoch: 3 and 4"},
       {[](Checkpoint& c) { c.state.position.step = 13; }, "progress step: 12 and 13"},
       {[](Checkpoint& c) { c.state.position.samples_in_epoch = 65; },
        "progress samples_in_epoch: 64 and 65"},
       {[](Checkpoint& c) { c.state.epoch_totals.loss_sum = 1.5; },
        "progress epoch_totals loss_sum: 1.25 and 1.5"},
       {[](Checkpoint& c) { c.state.epoch_totals.num_correct = 1; },
        "progress epoch_totals num_correct: 13 and 1"},
       {[](Checkpoint& c) { c.state.epoch_totals.num_samples = 1; },
        "progress epoch_totals num_samples: 14 and 1"},
       {[](Checkpoint& c) { c.state.interval_totals.loss_sum = 0.2; },
        "progress interval_totals loss_sum: 0.1 and 0.2"},
       {[](Checkpoint& c) { c.state.interval_totals.num_correct = 1; },
        "progress interval_totals num_correct: 15 and 1"},
       {[](Checkpoint& c) { c.state.interval_totals.num_samples = 1; },
        "progress interval_totals num_samples: 16 and 1"},
       {[](Checkpoint& c) { c.state.best.reset(); }, "progress best: a dict of 2 and none"},
       {[](Checkpoint& c) { c.state.best->epoch = 3; }, "progress best epoch: 2 and 3"},
       {[](Checkpoint& c) { c.state.best->value = 0.125; },
        "progress best value: 0.0625 and 0.125"},
       {[](Checkpoint& c) { c.state.epochs_without_improvement = 0; },
        "progress epochs_without_improvement: 1 and 0"},
       {[](Checkpoint& c) { c.state.recoveries.skipped_steps = 0; },
        "progress skipped_steps: 5 and 0"},
       {[](Checkpoint& c) { c.state.recoveries.rollbacks = 7; }, "progress rollbacks: 6 and 7"},
       {[](Checkpoint& c) { c.state.recoveries.overflowed_steps = 0; },
        "progress overflowed_steps: 7 and 0"},
       {[](Checkpoint& c) { c.state.recoveries.out_of_memory = 0; },
        "progress out_of_memory: 8 and 0"},
       {[](Checkpoint& c) { c.state.recoveries.micro_batch_size = 0; },
        "progress rows_at_once: 9 and 0"},
       {[](Checkpoint& c) { c.state.recoveries.has_fallen_back = false; },
        "progress has_fallen_back: true and false"},
       {[](Checkpoint& c) { c.state.scaler->scale = 512; }, "progress scaler scale: 1024 and 512"},
       {[](Checkpoint& c) { c.state.scaler->good_steps = 0; },
        "progress scaler good_steps: 10 and 0"},
       {[](Checkpoint& c) { c.state.plateau->best = 0.5; },
        "progress plateau best: 0.03125 and 0.5"},
       {[](Checkpoint& c) { c.state.plateau->bad_epochs = 0; },
        "progress plateau bad_epochs: 17 and 0"},
       {[](Checkpoint& c) { c.state.plateau->cooldown_left = 0; },
        "progress plateau cooldown_left: 18 and 0"},
       {[](Checkpoint& c) { c.state.plateau->num_reductions = 0; },
        "progress plateau num_reductions: 19 and 0"},
       {[](Checkpoint& c) { c.state.temperature = 2; }, "progress temperature: 1 and 2"},
       {[](Checkpoint& c) { c.state.best->value = std::nan(""); },
        "progress best value: 0.0625 and nan"},
       {[](Checkpoint& c) { c.epoch_metrics.epoch = 4; }, "metrics epoch: 3 and 4"},
       {[](Checkpoint& c) { c.epoch_metrics.train[1].value = 0.5; },
        "metrics train accuracy: 0.75 and 0.5"},
       {[](Checkpoint& c) { c.epoch_metrics.validation.clear(); },
        "metrics validation: missing from the second"},
       {[](Checkpoint& c) { c.bf16_products = Bf16Products::kAmx; },
        "bf16_products: missing from the first"}});
}

TEST(CompareTest, SchemaAndDataFilesAreCompared) {
  expect_found(
      {{[](Checkpoint& c) { c.schema.task = config::Task::kRegression; },
        "schema task: \"classification\" and \"regression\""},
       {[](Checkpoint& c) { c.schema.feature_names[1] = "x"; },
        "schema feature_names 1: \"b\" and \"x\""},
       {[](Checkpoint& c) { c.schema.feature_names.pop_back(); },
        "number of schema feature_names: 3 and 2"},
       {[](Checkpoint& c) { c.schema.target_names = {"y"}; },
        "schema target_names 0: \"kind\" and \"y\""},
       {[](Checkpoint& c) { c.schema.labels[0] = "never"; },
        "schema labels 0: \"no\" and \"never\""},
       {[](Checkpoint& c) { c.schema.scaling.shift[2] = 3; }, "schema shift: element 2 is 2 and 3"},
       {[](Checkpoint& c) { c.schema.scaling.scale[0] = 4; }, "schema scale: element 0 is 3 and 4"},
       {[](Checkpoint& c) { c.schema.columns[1].name = "id"; },
        "schema columns 1 name: \"row\" and \"id\""},
       {[](Checkpoint& c) { c.schema.columns[4].fill = 8; }, "schema columns 4 fill: 7 and 8"},
       {[](Checkpoint& c) { c.schema.columns[2].embedding_size = 3; },
        "schema columns 2 embedding_size: 0 and 3"},
       {[](Checkpoint& c) { c.schema.columns[2].categories = {"x"}; },
        "number of schema columns 2 categories: 0 and 1"},
       {[](Checkpoint& c) { c.schema.columns[2].quantiles = {1}; },
        "schema columns 2 quantiles: float32 [0] and float32 [1]"},
       {[](Checkpoint& c) { c.schema.columns[2].quantile_score = data::QuantileScore::kNormal; },
        "schema columns 2 normal_scores: missing from the first"},
       {[](Checkpoint& c) { c.schema.missing = {"NA"}; }, "number of schema missing: 0 and 1"},
       {[](Checkpoint& c) { c.schema.unknown_category = config::UnknownCategory::kUnknown; },
        "schema unknown_category: \"error\" and \"unknown\""},
       {[](Checkpoint& c) { c.schema.columns[2].source = "day"; },
        "schema columns 2 source: missing from the first"},
       {[](Checkpoint& c) { c.fingerprints[1].num_bytes = 1; }, "data_files 1 num_bytes: 0 and 1"},
       {[](Checkpoint& c) { c.fingerprints[0].crc32 = 1; }, "data_files 0 crc32: 4275878552 and 1"},
       {[](Checkpoint& c) { c.fingerprints.pop_back(); }, "number of data_files: 2 and 1"}});
}

TEST(CompareTest, WhatExplainsMostIsNamedFirst) {
  EXPECT_EQ(difference_after([](Checkpoint& c) {
              c.model.clear();
              c.state.position.step = 13;
            }),
            "progress step: 12 and 13");
}

}  // namespace
}  // namespace trainer::checkpoint
