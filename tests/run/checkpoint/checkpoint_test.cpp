// SPDX-License-Identifier: Apache-2.0
#include "trainer/run/checkpoint/checkpoint.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "trainer/base/archive/archive.h"
#include "trainer/base/error.h"
#include "trainer/run/checkpoint/compare.h"

#include "support/checkpoints.h"
#include "support/error_of.h"
#include "support/temporary_folder.h"

namespace trainer::checkpoint {
namespace {

using archive::Dict;
using archive::List;
using archive::Value;
using test::float_data;
using test::full_checkpoint;

class CheckpointTest : public testing::Test {
 protected:
  CheckpointTest() { write(path_, full_checkpoint()); }

  // What read() says of the file with `change` made to its content.
  template <class Change>
  std::string refusal(Change change) {
    Dict root = archive::load(path_);
    change(root);
    archive::save(path_, root);
    return test::after(path_.string() + ": ",
                       test::message_of(ErrorKind::kCheckpoint, [&] { read(path_); }));
  }

  std::string refusal_of(const std::string& key, const Value& value) {
    return refusal([&](Dict& root) { entry(root, key) = value; });
  }

  std::string refusal_without(const std::string& key) {
    return refusal([&](Dict& root) {
      const std::size_t dot = key.rfind('.');
      Dict& section = dot == std::string::npos ? root : dict_of(entry(root, key.substr(0, dot)));
      std::erase_if(section, [&](const auto& item) { return item.first == key.substr(dot + 1); });
    });
  }

  // The file as `version` wrote it, before the entries of the third one and these of `progress`.
  void make_older(int64_t version, const std::vector<std::string>& later) const {
    Dict root = archive::load(path_);
    entry(root, "format_version") = version;
    std::erase_if(dict_of(entry(root, "progress")), [&](const auto& item) {
      return std::find(later.begin(), later.end(), item.first) != later.end();
    });
    Dict& schema = dict_of(entry(root, "schema"));
    std::erase_if(schema, [&](const auto& item) {
      const bool is_of_version_3 = item.first == "columns" || item.first == "unknown_category";
      return (is_of_version_3 && version < 3) || item.first.starts_with("target_");
    });
    schema.emplace_back("target_name", "kind");
    archive::save(path_, root);
  }

  test::TemporaryFolder folder_;
  std::filesystem::path path_ = folder_.path() / "state.pt";

  static Dict& dict_of(Value& value) { return const_cast<Dict&>(*value.get_if<Dict>()); }

  // The value under a path such as "progress.best.value".
  static Value& entry(Dict& dict, const std::string& key) {
    const std::size_t dot = key.find('.');
    for (auto& [name, value] : dict) {
      if (name != key.substr(0, dot)) continue;
      if (dot == std::string::npos) return value;
      return entry(dict_of(value), key.substr(dot + 1));
    }
    throw std::logic_error("no entry " + key);
  }
};

// All members, those that a later version adds among them.
void expect_same(const Checkpoint& actual, Checkpoint expected) {
  expected.format_version = actual.format_version;  // the oldest that has all of it
  EXPECT_EQ(first_difference(actual, expected), std::nullopt);
  EXPECT_TRUE(actual == expected);
}

TEST_F(CheckpointTest, EarlierOnesHaveNoMetricsOfTheirEpoch) {
  Dict root = archive::load(path_);
  ASSERT_EQ(std::erase_if(root, [](const auto& item) { return item.first == "metrics"; }), 1U);
  archive::save(path_, root);
  const Checkpoint c = read(path_);
  EXPECT_EQ(c.epoch_metrics.epoch, 0);
  EXPECT_TRUE(c.epoch_metrics.train.empty());
  EXPECT_EQ(c.state.position.epoch, full_checkpoint().state.position.epoch);
}

TEST_F(CheckpointTest, CategoriesAreReadAsTheyWereWritten) {
  Checkpoint c = full_checkpoint();
  c.schema.columns = {{.name = "k",
                       .kind = data::ColumnKind::kCategorical,
                       .categories = {"x", "\xC3\xA4"},
                       .has_missing_indicator = true},
                      {.name = "e",
                       .kind = data::ColumnKind::kCategorical,
                       .categories = {"0", "1"},
                       .embedding_size = 3}};
  c.schema.feature_names = {"k=x", "k=\xC3\xA4", "k is missing", "e"};
  c.schema.scaling = {{1, 2, 3, 4}, {5, 6, 7, 8}};
  write(path_, c);
  expect_same(read(path_), c);
}

TEST_F(CheckpointTest, ARegressionIsReadAsItWasWritten) {
  Checkpoint c = full_checkpoint();
  c.schema.task = config::Task::kRegression;
  c.schema.target_names = {"height", "width"};
  c.schema.labels.clear();
  c.schema.target_scaling = {{1, 0.5F}, {2, 0.25F}};
  c.schema.unknown_category = config::UnknownCategory::kUnknown;
  write(path_, c);
  expect_same(read(path_), c);
}

TEST_F(CheckpointTest, ColumnsThatDoNotMakeTheFeaturesAreRefused) {
  Checkpoint c = full_checkpoint();
  c.schema.columns[0].has_missing_indicator = true;
  write(path_, c);
  const Error error = test::error_of([&] { read(path_); });
  EXPECT_EQ(error.what(),
            path_.string() + ": schema.columns: they do not match schema.feature_names");
}

TEST_F(CheckpointTest, AnEmbeddingThatNoConfigurationAllowsIsRefused) {
  Checkpoint c = full_checkpoint();
  c.schema.columns[0].embedding_size = int64_t{1} << 40;
  write(path_, c);
  const Error error = test::error_of([&] { read(path_); });
  EXPECT_EQ(error.what(), path_.string() +
                              ": schema.columns.embedding_size: expected an integer "
                              "from 0 to 4096, got 1099511627776");
}

TEST_F(CheckpointTest, DataThatIsNoTableHasNoColumns) {
  Checkpoint c = full_checkpoint();
  c.schema.columns.clear();
  write(path_, c);
  EXPECT_TRUE(read(path_).schema.columns.empty());
}

TEST_F(CheckpointTest, EveryFieldIsReadAsItWasWritten) {
  expect_same(read(path_), full_checkpoint());
  EXPECT_EQ(read(path_).format_version, 4);
}

TEST_F(CheckpointTest, WhatIsEmptyIsReadAsEmpty) {
  Checkpoint c = full_checkpoint();
  c.state.best.reset();
  c.state.scaler.reset();
  c.state.plateau->best.reset();
  c.moments.clear();
  c.fingerprints.clear();
  c.schema.labels.clear();
  c.schema.target_means.clear();
  write(path_, c);
  expect_same(read(path_), c);
}

TEST_F(CheckpointTest, NumbersThatAreNotFiniteSurvive) {
  Checkpoint c = full_checkpoint();
  c.state.best->value = -std::numeric_limits<double>::infinity();
  write(path_, c);
  EXPECT_EQ(read(path_).state.best.value().value, -std::numeric_limits<double>::infinity());
}

TEST_F(CheckpointTest, PythonFindsPlainNames) {
  const Dict root = archive::load(path_);
  std::vector<std::string> names;
  for (const auto& [name, value] : root) names.push_back(name);
  EXPECT_EQ(names, (std::vector<std::string>{"format", "format_version", "trainer_version", "model",
                                             "optimizer", "progress", "config", "schema",
                                             "data_files", "num_threads", "metrics"}));
  EXPECT_EQ(*find(root, "format")->get_if<std::string>(), "trainer-checkpoint");
  EXPECT_EQ(*find(root, "format_version")->get_if<int64_t>(), 4);
}

TEST_F(CheckpointTest, TheKindOfProductsInBf16IsInTheFileWhereThereIsOne) {
  EXPECT_EQ(read(path_).bf16_products, std::nullopt);
  for (const auto products : {Bf16Products::kPairs, Bf16Products::kAmx, Bf16Products::kArm}) {
    Checkpoint checkpoint = full_checkpoint();
    checkpoint.bf16_products = products;
    write(path_, checkpoint);
    EXPECT_EQ(read(path_).bf16_products, products);
  }
  EXPECT_EQ(refusal_of("bf16_products", "some"),
            "bf16_products: expected pairs or amx or arm, got \"some\"");
}

TEST_F(CheckpointTest, AnotherKindOfPyTorchFileIsNoCheckpoint) {
  const char* expected =
      "format: expected \"trainer-checkpoint\", got another kind of PyTorch file; it cannot be "
      "resumed";
  EXPECT_EQ(refusal_of("format", "something else"), expected);
  EXPECT_EQ(refusal_of("format", 1), expected);
  EXPECT_EQ(refusal([](Dict& root) {
              root = {{"layers.0.bias", float_data({1}, {1})}};
            }),
            expected);
}

TEST_F(CheckpointTest, ANewerFormatNamesTheProgramThatReadsIt) {
  EXPECT_EQ(refusal([](Dict& root) {
              root[1].second = 7;
              root[2].second = "9.8.7";
            }),
            "format_version: this program reads format versions 1 to 6, but the file has version "
            "7; it was written by trainer 9.8.7, use that version or a newer one");
}

TEST_F(CheckpointTest, MissingValuesAreKeptAndWereOnceTheSameFour) {
  Checkpoint c = read(path_);
  c.schema.missing = {"-999", "k.A."};
  write(path_, c);
  EXPECT_EQ(read(path_).schema.missing, c.schema.missing);
  Dict root = archive::load(path_);
  std::erase_if(dict_of(entry(root, "schema")),
                [](const auto& item) { return item.first == "missing"; });
  archive::save(path_, root);
  EXPECT_EQ(read(path_).schema.missing, (std::vector<std::string>{"NA", "NaN", "null", "?"}));
}

TEST_F(CheckpointTest, PartsOfDatesMakeItVersionSix) {
  Checkpoint c = full_checkpoint();
  data::Column& column = c.schema.columns[0];
  column.source = "when";
  column.date_part = config::DatePart::kDayOfWeek;
  write(path_, c);
  const Checkpoint again = read(path_);
  EXPECT_EQ(again.format_version, 6);
  EXPECT_EQ(again.schema.columns[0], column);
}

// Older programs would leave them out, and predict something else.
TEST_F(CheckpointTest, OffsetsAndLimitsMakeItVersionFive) {
  Checkpoint c = full_checkpoint();
  ASSERT_FALSE(c.schema.columns.empty());
  data::Column& column = c.schema.columns[0];
  ASSERT_EQ(column.kind, data::ColumnKind::kNumeric);
  column.offset = 1.7e9 + 0.123456789;
  column.limits = data::Limits{-1.5F, 2.5F};
  column.quantiles.clear();
  c.schema.scaling.offset = data::feature_offsets(c.schema.columns);
  ASSERT_EQ(c.schema.scaling.offset.front(), column.offset);
  write(path_, c);
  const Checkpoint again = read(path_);
  EXPECT_EQ(again.format_version, 5);
  EXPECT_EQ(again.schema.scaling.offset, c.schema.scaling.offset);
  EXPECT_EQ(again.schema.columns[0].offset, column.offset);
  EXPECT_EQ(again.schema.columns[0].limits->low, -1.5F);
  EXPECT_EQ(again.schema.columns[0].limits->high, 2.5F);
  EXPECT_EQ(first_difference(c, again), std::nullopt);
  EXPECT_EQ(first_difference(c, full_checkpoint()).value_or("").substr(0, 6), "schema");
}

TEST_F(CheckpointTest, OlderFormatsAreReadToo) {
  std::vector<std::string> later = {"plateau", "has_fallen_back"};
  make_older(3, later);
  const Checkpoint third = read(path_);
  EXPECT_EQ(third.format_version, 3);
  EXPECT_EQ(third.state.recoveries.micro_batch_size, 9);
  EXPECT_FALSE(third.state.recoveries.has_fallen_back);
  EXPECT_FALSE(third.state.plateau.has_value());

  later.insert(later.end(), {"overflowed_steps", "out_of_memory", "rows_at_once", "scaler"});
  make_older(2, later);
  const Checkpoint second = read(path_);
  EXPECT_EQ(second.format_version, 2);
  EXPECT_EQ(second.state.recoveries.rollbacks, 6);
  EXPECT_EQ(second.state.recoveries.micro_batch_size, 0);
  EXPECT_EQ(second.schema.target_names, std::vector<std::string>{"kind"});
  EXPECT_TRUE(second.schema.target_means.empty());
  EXPECT_FALSE(second.state.scaler.has_value());
  std::vector<data::Column> plain(3);
  for (std::size_t i = 0; i < 3; ++i) plain[i].name = second.schema.feature_names[i];
  EXPECT_EQ(second.schema.columns, plain);
  EXPECT_EQ(second.schema.unknown_category, config::UnknownCategory::kUnknown);

  later.insert(later.end(), {"skipped_steps", "rollbacks"});
  make_older(1, later);
  const Checkpoint first = read(path_);
  EXPECT_EQ(first.format_version, 1);
  EXPECT_EQ(first.state.recoveries.skipped_steps, 0);
  EXPECT_EQ(first.state.recoveries.rollbacks, 0);
  EXPECT_EQ(first.metrics_bytes, 12345U);
}

TEST_F(CheckpointTest, EachMissingEntryIsNamed) {
  for (const char* key : {"format_version",
                          "trainer_version",
                          "model",
                          "optimizer",
                          "optimizer.name",
                          "optimizer.step",
                          "optimizer.moments",
                          "progress",
                          "progress.epoch",
                          "progress.step",
                          "progress.samples_in_epoch",
                          "progress.epoch_totals",
                          "progress.epoch_totals.loss_sum",
                          "progress.epoch_totals.num_correct",
                          "progress.interval_totals.num_samples",
                          "progress.best",
                          "progress.best.epoch",
                          "progress.best.value",
                          "progress.epochs_without_improvement",
                          "progress.skipped_steps",
                          "progress.rollbacks",
                          "progress.overflowed_steps",
                          "progress.out_of_memory",
                          "progress.rows_at_once",
                          "progress.scaler",
                          "progress.scaler.scale",
                          "progress.scaler.good_steps",
                          "progress.plateau",
                          "progress.plateau.best",
                          "progress.plateau.bad_epochs",
                          "progress.plateau.cooldown_left",
                          "progress.plateau.num_reductions",
                          "progress.metrics_bytes",
                          "config",
                          "schema",
                          "schema.task",
                          "schema.feature_names",
                          "schema.target_names",
                          "schema.target_shift",
                          "schema.target_scale",
                          "schema.labels",
                          "schema.shift",
                          "schema.scale",
                          "schema.columns",
                          "schema.unknown_category",
                          "data_files",
                          "num_threads"}) {
    write(path_, full_checkpoint());
    EXPECT_EQ(refusal_without(key), std::string(key) + ": missing entry");
  }
}

struct Mistyped {
  const char* key;
  Value value;
  const char* problem;
};

TEST_F(CheckpointTest, EachEntryOfAnotherTypeIsNamed) {
  const Mistyped cases[] = {
      {"format_version", "1", "expected int, got str"},
      {"model", List{}, "expected dict, got list"},
      {"optimizer.name", 1, "expected str, got int"},
      {"optimizer.step", 1.5, "expected int, got float"},
      {"optimizer.step", -1, "expected an integer >= 0, got -1"},
      {"optimizer.moments.exp_avg", 1, "expected dict, got int"},
      {"progress.epoch", true, "expected int, got bool"},
      {"progress.epoch", -5, "expected an integer >= 0, got -5"},
      {"progress.epoch_totals", {}, "expected dict, got None"},
      {"progress.epoch_totals.loss_sum", 1, "expected float, got int"},
      {"progress.best", "epoch 2", "expected dict, got str"},
      {"progress.best.value", "low", "expected float, got str"},
      {"progress.plateau", 1, "expected dict, got int"},
      {"progress.plateau.best", "low", "expected float, got str"},
      {"progress.plateau.num_reductions", -1, "expected an integer >= 0, got -1"},
      {"progress.metrics_bytes", -1, "expected an integer >= 0, got -1"},
      {"config", float_data({1}, {1}), "expected str, got Tensor"},
      {"schema.task", "clustering", "expected classification or regression, got \"clustering\""},
      {"schema.feature_names", "a", "expected list, got str"},
      {"schema.labels", List{"no", 1}, "expected a list of str, got int in it"},
      {"schema.shift", List{1.0}, "expected Tensor, got list"},
      {"schema.shift", float_data({2}, {1, 2}), "expected float32 [3], got float32 [2]"},
      {"schema.scale", float_data({1, 3}, {1, 2, 3}), "expected float32 [3], got float32 [1, 3]"},
      {"schema.columns", Dict{}, "expected list, got dict"},
      {"schema.columns", List{1}, "expected a list of dict, got int in it"},
      {"schema.unknown_category", "zero", "expected unknown or error, got \"zero\""},
      {"data_files", Dict{}, "expected list, got dict"},
      {"data_files", List{"a.csv"}, "expected a list of dict, got str in it"},
      {"num_threads", {}, "expected int, got None"},
      {"num_threads", 0, "expected an integer >= 1, got 0"},
  };
  for (const Mistyped& c : cases) {
    write(path_, full_checkpoint());
    EXPECT_EQ(refusal_of(c.key, c.value), std::string(c.key) + ": " + c.problem);
  }
}

TEST_F(CheckpointTest, ATensorOfAnotherTypeIsNamed) {
  EXPECT_EQ(refusal([](Dict& root) {
              root[3].second = Dict{{"layers.0.bias", 1.0}};
            }),
            "model.layers.0.bias: expected Tensor, got float");
}

TEST_F(CheckpointTest, AnEntryOfADataFileIsNamed) {
  EXPECT_EQ(refusal_of("data_files", List{Dict{{"path", "a.csv"}, {"num_bytes", 1}}}),
            "data_files.crc32: missing entry");
}

}  // namespace
}  // namespace trainer::checkpoint
