// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "trainer/base/error.h"
#include "trainer/config/dump.h"
#include "trainer/config/load.h"

#include "config/document.h"
#include "support/error_of.h"

namespace trainer::config {
namespace {

TEST(ValidateTest, AFileThatWouldNotBeUsedIsAConflict) {
  EXPECT_EQ(message_of("data: {path: x.csv}"),
            "data.target: expected a value because data.source is csv, got nothing");
  EXPECT_EQ(message_of("data: {group: a}"),
            "a.yaml:1: data.group: has no effect unless data.source is csv or query; set "
            "data.source: csv");
  EXPECT_EQ(message_of("data:\n  source: csv\n  path: x.csv\n  target: y\n"
                       "  idx: {train_images: a}"),
            "a.yaml:5: data.idx.train_images: has no effect unless data.source is idx; set "
            "data.source: idx");
}

TEST(ValidateTest, QuantilesAndEmbeddingsAreForTables) {
  EXPECT_EQ(message_of("data: {source: synthetic, scaling: quantile}"),
            "a.yaml:1: data.scaling: quantile scaling is only supported for tables, not for "
            "data.source: synthetic; use robust");
  EXPECT_EQ(
      message_of("data: {embed_above: 5, embedding_size: 3}"),
      "a.yaml:1: data.embed_above: has no effect unless data.source is csv or query; set "
      "data.source: "
      "csv\na.yaml:1: data.embedding_size: has no effect unless data.source is csv or query; set "
      "data.source: csv");
  EXPECT_THROW(load({{"a.yaml", "data: {target_scaling: quantile}", "/folder"}}, {}), Error);
}

TEST(ValidateTest, ASourceNeedsItsFiles) {
  EXPECT_EQ(message_of("data: {source: csv}"),
            "data.path: expected a value because data.source is csv, got nothing\n"
            "data.target: expected a value because data.source is csv, got nothing");
  EXPECT_EQ(message_of("data: {source: idx}"),
            "data.idx.train_images: expected a value because data.source is idx, got nothing\n"
            "data.idx.train_labels: expected a value because data.source is idx, got nothing");
}

TEST(ValidateTest, ArraysNeedTheirFilesAndGoTogether) {
  EXPECT_EQ(message_of("data: {source: npy}"),
            "data.npy.features: expected a value because data.source is npy, got nothing\n"
            "data.npy.targets: expected a value because data.source is npy, got nothing");
  EXPECT_EQ(message_of("data: {source: idx, npy: {features: a}, idx: {train_images: b, "
                       "train_labels: c}}"),
            "a.yaml:1: data.npy.features: has no effect unless data.source is npy; set "
            "data.source: npy");
  EXPECT_EQ(
      message_of("data: {source: npy, test_fraction: 0.2, npy: {features: a, targets: b, "
                 "test_targets: c}}"),
      "data.npy.test_features: expected a file because data.npy.test_targets is set, got nothing");
}

TEST(ValidateTest, TestImagesAndLabelsGoTogether) {
  EXPECT_EQ(
      message_of("data:\n  source: idx\n  idx:\n    train_images: a\n    train_labels: b\n"
                 "    test_images: c\n"),
      "data.idx.test_labels: expected a file because data.idx.test_images is set, got nothing");
  EXPECT_EQ(message_of("data:\n  source: idx\n  test_fraction: 0.2\n  idx:\n    train_images: a\n"
                       "    train_labels: b\n    test_images: c\n    test_labels: d\n"),
            "a.yaml:3: data.test_fraction: conflicts with data.idx.test_images, which provides the "
            "test split; remove one, or unset it with data.test_fraction=null");
}

TEST(ValidateTest, TheFractionsLeaveSomethingToTrainOn) {
  EXPECT_EQ(message_of("data: {validation_fraction: 0.5, test_fraction: 0.5}"),
            "a.yaml:1: data.test_fraction: expected validation_fraction + test_fraction < 1, got "
            "1");
}

TEST(ValidateTest, RowsAreDividedInOneWay) {
  const std::string csv = "data:\n  source: csv\n  path: x.csv\n  target: y\n";
  EXPECT_EQ(message_of(csv + "  validation_fraction: 0.2\n  validation_path: v.csv\n"
                             "  test_fraction: 0.2\n  test_path: t.csv"),
            "a.yaml:5: data.validation_fraction: conflicts with data.validation_path, which "
            "already determines it; remove one, or unset it with data.validation_fraction=null\n"
            "a.yaml:7: data.test_fraction: conflicts with data.test_path, which already determines "
            "it; remove one, or unset it with data.test_fraction=null");
  EXPECT_EQ(message_of(csv + "  split_column: p\n  group: g\n  test_path: t.csv"),
            "a.yaml:6: data.group: conflicts with data.split_column, which already determines it; "
            "remove one, or unset it with data.group=null\n"
            "a.yaml:7: data.test_path: conflicts with data.split_column, which already determines "
            "it; remove one, or unset it with data.test_path=null");
}

TEST(ValidateTest, AFillValueNeedsTheConstantFill) {
  EXPECT_EQ(message_of("data:\n  source: csv\n  path: x.csv\n  target: y\n  fill_value: 1"),
            "a.yaml:5: data.fill_value: has no effect unless data.fill is constant");
}

TEST(ValidateTest, DatesAreAWordOrPartsOfDates) {
  const std::string csv = "data:\n  source: csv\n  path: x.csv\n  target: y\n  dates: ";
  for (const char* good : {"auto", "off", "[year]", "[seconds, day_of_week]", "month"}) {
    EXPECT_NO_THROW(load({{"a.yaml", csv + good, ""}}, {})) << good;
  }
  const std::string expected =
      "a.yaml:5: data.dates: expected auto, off, or a list of year, month, day_of_week, hour and "
      "seconds, got ";
  EXPECT_EQ(message_of(csv + "[year, week]"), expected + "\"week\"");
  EXPECT_EQ(message_of(csv + "[auto, year]"), expected + "\"auto\"");
  EXPECT_EQ(message_of(csv + "[]"), expected + "an empty list");
  EXPECT_EQ(message_of("data:\n  dates: off"),
            "a.yaml:2: data.dates: has no effect unless data.source is csv or query; set "
            "data.source: csv");
}

TEST(ValidateTest, EarlyStoppingAcceptsAValidationFile) {
  EXPECT_NO_THROW(load({{"a.yaml",
                         "data: {source: csv, path: x, target: y, validation_path: v}\n"
                         "training: {early_stopping: {patience: 3}}",
                         "/folder"}},
                       {}));
}

TEST(ValidateTest, EarlyStoppingNeedsAValidationPart) {
  EXPECT_EQ(message_of("data: {validation_fraction: 0}\n"
                       "training: {early_stopping: {patience: 3}}"),
            "a.yaml:2: training.early_stopping.patience: requires a validation split; set "
            "data.validation_fraction above 0");
}

TEST(ValidateTest, HiddenSizesAndTheShortFormExcludeEachOther) {
  EXPECT_EQ(message_of("model: {hidden_sizes: [8], hidden_size: 16, num_layers: 3}"),
            "a.yaml:1: model.hidden_size: conflicts with model.hidden_sizes; remove one, or unset "
            "it with model.hidden_size=null\n"
            "a.yaml:1: model.num_layers: conflicts with model.hidden_sizes; remove one, or unset "
            "it with model.num_layers=null");
}

TEST(ValidateTest, AConflictIsJudgedByWhatWasWrittenAndNotByItsValue) {
  const std::string csv = "data:\n  source: csv\n  path: x.csv\n  target: y\n";
  const Config defaults;
  const std::string fraction =
      csv + fmt::format("  test_fraction: {}", defaults.data.test_fraction);
  EXPECT_EQ(message_of(fraction + "\n  test_path: t.csv"),
            "a.yaml:5: data.test_fraction: conflicts with data.test_path, which already "
            "determines it; remove one, or unset it with data.test_fraction=null");
  const Override file{"data.test_path", "t.csv", "command line"};
  const Override unset{"data.test_fraction", "null", "command line"};
  EXPECT_NO_THROW(load({{"a.yaml", fraction, "/folder"}}, {file, unset}));
  // No part by a fraction is no conflict with a file for it.
  const Override none{"data.test_fraction", "0", "command line"};
  EXPECT_NO_THROW(load({{"a.yaml", csv, "/folder"}}, {file, none}));
}

TEST(ValidateTest, OfTwoConflictingKeysTheOneOfTheHigherPrecedenceWins) {
  const auto line = [](const char* key, const char* value) {
    return Override{key, value, "command line"};
  };
  const Document sizes{"a.yaml", "model: {hidden_size: 16, num_layers: 3}", ""};
  const Loaded wide = load({sizes}, {line("model.hidden_sizes", "256,128")});
  EXPECT_EQ(hidden_sizes(wide.config.model), (std::vector<int64_t>{256, 128}));
  EXPECT_EQ(origin_of(wide, "model.hidden_sizes"),
            "command line, over model.hidden_size of a.yaml:1 and model.num_layers of a.yaml:1");
  EXPECT_EQ(origin_of(wide, "model.hidden_size"), "default");
  EXPECT_EQ(origin_of(wide, "model.num_layers"), "default");
  const Loaded narrow =
      load({{"a.yaml", "model: {hidden_sizes: [8]}", ""}}, {line("model.hidden_size", "4")});
  EXPECT_EQ(narrow.config.model.hidden_sizes, std::vector<int64_t>{});
  EXPECT_EQ(narrow.config.model.hidden_size, 4);
  const Loaded later = load(
      {{"a.yaml", "model: {hidden_size: 16}", ""}, {"b.yaml", "model: {hidden_sizes: [8]}", ""}},
      {});
  EXPECT_EQ(origin_of(later, "model.hidden_sizes"), "b.yaml:1, over model.hidden_size of a.yaml:1");

  const std::string csv = "data:\n  source: csv\n  path: /x.csv\n  target: y\n";
  const Document fraction{"a.yaml", csv + "  test_fraction: 0.2", "/folder"};
  const Loaded file = load({fraction}, {line("data.test_path", "/t.csv")});
  EXPECT_EQ(origin_of(file, "data.test_path"), "command line, over data.test_fraction of a.yaml:5");
  const Loaded generated = load({fraction}, {line("data.source", "synthetic")});
  EXPECT_EQ(generated.config.data.path, "");
  EXPECT_EQ(generated.config.data.target, std::vector<std::string>{});
  EXPECT_EQ(generated.config.data.test_fraction, 0.2);
  const Document cosine{"a.yaml", "training: {schedule: {name: cosine, final_factor: 0.5}}", ""};
  const Loaded constant = load({cosine}, {line("training.schedule.name", "constant")});
  EXPECT_EQ(origin_of(constant, "training.schedule.name"),
            "command line, over training.schedule.final_factor of a.yaml:1");
}

TEST(ValidateTest, WhatHasNoEffectDoesNotWinOverWhatIsSet) {
  const Error error = test::error_of([] {
    load({{"a.yaml", "training: {optimizer: {name: adamw}}", ""}},
         {{"training.optimizer.nesterov", "true", "command line"}});
  });
  EXPECT_STREQ(error.what(),
               "command line: training.optimizer.nesterov: requires training.optimizer.name: sgd");
}

TEST(ValidateTest, TheSourceFollowsFromTheFileThatIsNamed) {
  const Loaded table = load({{"a.yaml", "data:\n  path: /x.csv\n  target: y", ""}}, {});
  EXPECT_EQ(table.config.data.source, Source::kCsv);
  EXPECT_EQ(origin_of(table, "data.source"), "a.yaml:2, from data.path");
  const Loaded query = load({{"a.yaml", "data: {query: select 1, target: y}", ""}}, {});
  EXPECT_EQ(query.config.data.source, Source::kQuery);
  const Loaded arrays = load({{"a.yaml", "data: {npy: {features: /a, targets: /b}}", ""}}, {});
  EXPECT_EQ(arrays.config.data.source, Source::kNpy);
  const std::string images = "data: {source: idx, idx: {train_images: /a, train_labels: /b}}";
  const Loaded other = load({{"a.yaml", images, ""}}, {{"data.path", "/x.csv", "command line"},
                                                       {"data.target", "y", "command line"}});
  EXPECT_EQ(other.config.data.source, Source::kCsv);
  EXPECT_EQ(other.config.data.idx.train_images, "");
  // A source that follows cannot give way: it would follow again.
  const Error error = test::error_of([] {
    load({{"a.yaml", "data: {path: /x.csv, target: y}", ""}},
         {{"data.npy.test_features", "/b", "command line"}});
  });
  EXPECT_STREQ(error.what(),
               "command line: data.npy.test_features: has no effect unless data.source is npy; set "
               "data.source: npy");
}

TEST(ValidateTest, AResolvedConfigurationSetsNothingByItsDefaults) {
  const std::string csv = "data: {source: csv, path: x.csv, target: y}\nmodel: {num_layers: 3}";
  const std::string resolved = dump(load({{"a.yaml", csv, "/folder"}}, {}));
  const Override file{"data.test_path", "t.csv", "command line"};
  const Loaded again = load({{"b.yaml", resolved, "/folder"}}, {file});
  EXPECT_EQ(origin_of(again, "data.test_fraction"), "default");
  EXPECT_EQ(origin_of(again, "data.test_path"), "command line");
  const Override sizes{"model.hidden_sizes", "[8]", "command line"};
  const Loaded narrow = load({{"b.yaml", resolved, "/folder"}}, {sizes});
  EXPECT_TRUE(origin_of(narrow, "model.hidden_sizes")
                  .starts_with("command line, over model.num_layers of b.yaml:"))
      << origin_of(narrow, "model.hidden_sizes");
}

TEST(ValidateTest, CountsHaveRoomForTheirProducts) {
  EXPECT_EQ(message_of("training:\n  epochs: 9223372036854775807\n  batch_size: 3037000500\n"
                       "  gradient_accumulation_steps: 9223372036854775807\n"
                       "checkpoint: {keep_last: 9223372036854775807}\n"
                       "logging: {save_interval: 9223372036854775807}\n"
                       "data: {synthetic: {num_samples: 100000000000}}"),
            "a.yaml:2: training.epochs: expected an integer >= 1 and <= 1000000000, got "
            "\"9223372036854775807\"\n"
            "a.yaml:3: training.batch_size: expected an integer >= 1 and <= 1000000000, got "
            "\"3037000500\"\n"
            "a.yaml:4: training.gradient_accumulation_steps: expected an integer >= 1 and <= "
            "1000000000, got \"9223372036854775807\"\n"
            "a.yaml:5: checkpoint.keep_last: expected an integer >= 1 and <= 1000000000, got "
            "\"9223372036854775807\"\n"
            "a.yaml:6: logging.save_interval: expected an integer >= 1 and <= 1000000000, got "
            "\"9223372036854775807\"\n"
            "a.yaml:7: data.synthetic.num_samples: expected an integer >= 1 and <= 1000000000, got "
            "\"100000000000\"");
  std::string sizes = "8";
  for (int i = 0; i < 1000; ++i) sizes += ", 8";
  EXPECT_EQ(message_of("model: {hidden_sizes: [" + sizes + "]}"),
            "a.yaml:1: model.hidden_sizes: expected at most 1000 layers, got 1001");
}

TEST(ValidateTest, TheFolderOfTheRunsHasAName) {
  EXPECT_EQ(
      message_of("output_dir: \"\""),
      "a.yaml:1: output_dir: expected a folder, got nothing; use . for the working directory");
}

TEST(ValidateTest, ResidualLayersNeedEqualWidths) {
  EXPECT_EQ(message_of("model: {hidden_sizes: [8, 4], residual: true}"),
            "a.yaml:1: model.residual: expected at least two hidden layers of equal width, got "
            "[8, 4]");
  EXPECT_EQ(message_of("model: {num_layers: 1, residual: true}"),
            "a.yaml:1: model.residual: expected at least two hidden layers of equal width, got "
            "[128]");
}

TEST(ValidateTest, NesterovNeedsMomentum) {
  EXPECT_EQ(message_of("training: {optimizer: {nesterov: true}}"),
            "a.yaml:1: training.optimizer.nesterov: requires training.optimizer.name: sgd");
  EXPECT_EQ(message_of("training: {optimizer: {name: sgd, momentum: 0, nesterov: true}}"),
            "a.yaml:1: training.optimizer.nesterov: requires training.optimizer.momentum above 0");
}

TEST(ValidateTest, TheWarmUpEndsBeforeTheTraining) {
  EXPECT_EQ(message_of("training: {epochs: 2, schedule: {warmup_epochs: 3}}"),
            "a.yaml:1: training.schedule.warmup_epochs: expected at most training.epochs (2), got "
            "3");
}

TEST(ValidateTest, KeysOfOtherSchedulesAreConflicts) {
  EXPECT_EQ(
      message_of("training:\n  schedule:\n    name: constant\n    final_factor: 0.1\n"
                 "    gamma: 0.5"),
      "a.yaml:4: training.schedule.final_factor: has no effect unless training.schedule.name "
      "is linear, cosine or one_cycle\n"
      "a.yaml:5: training.schedule.gamma: has no effect unless training.schedule.name is step "
      "or reduce_on_plateau");
  EXPECT_EQ(message_of("training:\n  schedule:\n    step_epochs: 3\n    rise_fraction: 0.2\n"
                       "    initial_factor: 0.5"),
            "a.yaml:3: training.schedule.step_epochs: has no effect unless training.schedule.name "
            "is step\n"
            "a.yaml:4: training.schedule.rise_fraction: has no effect unless "
            "training.schedule.name is one_cycle\n"
            "a.yaml:5: training.schedule.initial_factor: has no effect unless "
            "training.schedule.name is one_cycle");
  EXPECT_EQ(
      message_of("training:\n  schedule:\n    patience: 3\n    threshold: 0.2\n    cooldown: 1\n"
                 "    min_learning_rate: 1"),
      "a.yaml:3: training.schedule.patience: has no effect unless training.schedule.name is "
      "reduce_on_plateau\n"
      "a.yaml:4: training.schedule.threshold: has no effect unless training.schedule.name is "
      "reduce_on_plateau\n"
      "a.yaml:5: training.schedule.cooldown: has no effect unless training.schedule.name is "
      "reduce_on_plateau\n"
      "a.yaml:6: training.schedule.min_learning_rate: has no effect unless training.schedule.name "
      "is reduce_on_plateau");
}

TEST(ValidateTest, PartsOfTheModelFitTogether) {
  EXPECT_EQ(message_of("model: {parametrization: ntk}\ntraining: {optimizer: {name: adam}}"),
            "a.yaml:1: model.parametrization: ntk requires training.optimizer.name: adamw");
  EXPECT_EQ(message_of("model: {num_frequencies: 8}"),
            "a.yaml:1: model.num_frequencies: has no effect unless model.numeric_embedding is "
            "periodic");
  EXPECT_EQ(message_of("model: {num_bins: 8, numeric_embedding: periodic}"),
            "a.yaml:1: model.num_bins: has no effect unless model.numeric_embedding is "
            "piecewise_linear");
  EXPECT_EQ(message_of("model: {numeric_embedding_size: 8}"),
            "a.yaml:1: model.numeric_embedding_size: has no effect without "
            "model.numeric_embedding");
  EXPECT_EQ(message_of("model: {ensemble_size: 257}"),
            "a.yaml:1: model.ensemble_size: expected an integer >= 1 and <= 256, got \"257\"");
}

TEST(ValidateTest, OnlyNumbersAreClipped) {
  EXPECT_EQ(message_of("data: {clip_predictions: true, task: classification}"),
            "a.yaml:1: data.clip_predictions: only applies to regression; remove it for "
            "classification");
}

TEST(ValidateTest, CyclesAreOfCoslogOnly) {
  EXPECT_EQ(message_of("training: {schedule: {cycles: 3}}"),
            "a.yaml:1: training.schedule.cycles: has no effect unless training.schedule.name is "
            "coslog");
  EXPECT_EQ(message_of("training: {schedule: {name: coslog, cycles: 31}}"),
            "a.yaml:1: training.schedule.cycles: expected an integer >= 1 and <= 30, got \"31\"");
}

TEST(ValidateTest, ALearningRateFactorIsAPatternAndANumber) {
  const auto refused = [](const std::string& text) {
    return "a.yaml:1: training.lr_factors: expected PATTERN=FACTOR with a factor of at least 0, "
           "such "
           "as \"*.bias=0.1\", got \"" +
           text + '"';
  };
  for (const std::string text :
       {"*.bias", "=0.1", "*.bias=", "*.bias=fast", "*.bias=-1", "a=inf"}) {
    EXPECT_EQ(message_of("training: {lr_factors: [\"" + text + "\"]}"), refused(text));
  }
  EXPECT_NO_THROW(load({document("training: {lr_factors: [\"*.bias=0.1\", \"a=0\"]}")}, {}));
}

TEST(ValidateTest, OneCycleHasAWarmUpOfItsOwn) {
  EXPECT_EQ(message_of("training: {schedule: {name: one_cycle, warmup_epochs: 1}}"),
            "a.yaml:1: training.schedule.warmup_epochs: conflicts with training.schedule.name: "
            "one_cycle, which has its own warm-up; set training.schedule.rise_fraction instead");
}

TEST(ValidateTest, TheLeastLearningRateIsNotAboveTheHighest) {
  EXPECT_EQ(message_of("training: {learning_rate: 0.01, schedule: {name: reduce_on_plateau,\n"
                       "  min_learning_rate: 0.1}}"),
            "a.yaml:2: training.schedule.min_learning_rate: expected at most "
            "training.learning_rate (0.01), got 0.1");
}

TEST(ValidateTest, EveryScheduleTakesItsOwnKeys) {
  for (const char* schedule :
       {"linear, final_factor: 0.1", "step, step_epochs: 2, gamma: 0.5, warmup_epochs: 1",
        "one_cycle, rise_fraction: 0.2, initial_factor: 0.1, final_factor: 0.01",
        "reduce_on_plateau, gamma: 0.5, patience: 2, threshold: 0.01, cooldown: 1, "
        "min_learning_rate: 1e-5, warmup_epochs: 1"}) {
    EXPECT_NO_THROW(load(
        {{"a.yaml", "training: {schedule: {name: " + std::string(schedule) + "}}", "/folder"}}, {}))
        << schedule;
  }
}

TEST(ValidateTest, LossAndTaskAgree) {
  EXPECT_EQ(message_of("data: {task: classification}\ntraining: {loss: mse}"),
            "a.yaml:2: training.loss: mse requires data.task: regression");
  EXPECT_EQ(message_of("data: {task: regression}\ntraining: {loss: cross_entropy}"),
            "a.yaml:2: training.loss: cross_entropy requires data.task: classification");
  EXPECT_EQ(message_of("data: {task: regression}\n"
                       "training: {label_smoothing: 0.1, best_metric: accuracy}"),
            "a.yaml:2: training.label_smoothing: only applies to cross-entropy; remove it for "
            "regression\n"
            "a.yaml:2: training.best_metric: accuracy is not defined for regression; use loss");
}

TEST(ValidateTest, ASplitByTimeNeedsAColumnAndIsTheOnlyDivision) {
  const std::string csv = "data: {source: csv, path: x.csv, target: y, ";
  EXPECT_EQ(message_of(csv + "time: t}"),
            "a.yaml:1: data.time: has no effect unless data.split is chronological");
  EXPECT_EQ(message_of(csv + "split: chronological}"),
            "data.time: expected a column because data.split is chronological, got nothing");
  EXPECT_EQ(message_of(csv + "split: chronological, time: t, group: g}"),
            "a.yaml:1: data.split: chronological conflicts with data.group, which also splits the "
            "rows; remove one");
  EXPECT_EQ(message_of(csv + "split: chronological, time: t, folds: 3, repeat: 2}"),
            "a.yaml:1: data.repeat: conflicts with data.split: chronological, which has only one "
            "possible split");
  EXPECT_EQ(message_of("data: {split: chronological}"),
            "a.yaml:1: data.split: has no effect unless data.source is csv or query; set "
            "data.source: csv");
  EXPECT_EQ(message_of("data: {repeat: 2}"),
            "a.yaml:1: data.repeat: has no effect unless data.folds is set");
}

TEST(ValidateTest, CalibrationIsForClasses) {
  EXPECT_EQ(
      message_of("training: {best_metric: calibrated_log_loss}"),
      "a.yaml:1: training.best_metric: calibrated_log_loss requires training.calibrate: true");
  EXPECT_EQ(message_of("data: {task: regression}\ntraining: {calibrate: true}"),
            "a.yaml:2: training.calibrate: only applies to classification; remove it for "
            "regression");
}

TEST(ValidateTest, ValidationFoldsReplaceOtherValidationSplits) {
  const std::string csv = "data: {source: csv, path: t.csv, target: y, ";
  EXPECT_EQ(message_of(csv + "validation_folds: 1}"),
            "a.yaml:1: data.validation_folds: expected at least 2 folds, or 0 for none, got 1");
  EXPECT_EQ(message_of(csv + "validation_fold: 2}"),
            "a.yaml:1: data.validation_fold: has no effect unless data.validation_folds is set");
  EXPECT_EQ(message_of(csv + "validation_folds: 3, validation_fold: 4}"),
            "a.yaml:1: data.validation_fold: expected at most data.validation_folds (3), got 4");
  EXPECT_EQ(message_of(csv + "validation_folds: 3, validation_path: v.csv}"),
            "a.yaml:1: data.validation_folds: conflicts with data.validation_path, which provides "
            "the validation split; remove one, or unset it with data.validation_path=null");
  EXPECT_EQ(message_of(csv + "validation_folds: 3, split: chronological, time: t}"),
            "a.yaml:1: data.validation_folds: conflicts with data.time, which provides the "
            "validation split; remove one, or unset it with data.time=null");
  EXPECT_NO_THROW(load({{"a.yaml",
                         "data: {validation_folds: 3, validation_fold: 3, validation_fraction: 0}\n"
                         "training: {early_stopping: {patience: 3}}",
                         "/"}},
                       {}));
}

}  // namespace
}  // namespace trainer::config
