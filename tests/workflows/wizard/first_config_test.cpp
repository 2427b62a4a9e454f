// SPDX-License-Identifier: Apache-2.0
#include "trainer/workflows/wizard/first_config.h"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "trainer/base/error.h"
#include "trainer/workflows/wizard/column_kinds.h"

#include "support/error_of.h"
#include "support/temporary_folder.h"

namespace trainer::wizard {
namespace {

using Words = std::vector<std::string>;

// A table of `num_rows` rows: a number that counts, then `columns`, each cell made from the row.
using Cell = std::string (*)(int row);
data::TableFacts table(int num_rows, const std::vector<std::pair<std::string, Cell>>& columns) {
  std::string text = "x";
  for (const auto& [name, cell] : columns) text += "," + name;
  for (int row = 0; row < num_rows; ++row) {
    text += "\n" + std::to_string(row % 7) + ".5";
    for (const auto& [name, cell] : columns) text += "," + cell(row);
  }
  const test::TemporaryFolder folder;
  return data::inspect_table({folder.write("my table.csv", text + "\n")});
}

std::string half(int row) { return row % 2 == 0 ? "a" : "b"; }
std::string counting(int row) { return std::to_string(row); }
std::string scattered(int row) { return std::to_string(row * 7919 % 10007); }
std::string name_of(int row) { return "n" + std::to_string(row); }
std::string date_of(int row) {
  return "2026-0" + std::to_string(1 + row / 18) + "-" + std::to_string(10 + row % 18);
}
std::string constant(int) { return "5"; }
std::string nothing(int) { return ""; }
std::string mostly_numbers(int row) { return row % 9 == 3 ? "<5" : scattered(row); }
std::string mostly_texts(int row) { return row % 3 == 0 ? "1" : half(row); }
std::string with_commas(int row) { return "\"" + std::to_string(row % 50) + ",5\""; }
std::string hex(int row) {  // some are digits only
  return row % 7 == 0 ? std::to_string(10'000'000 + row) : "a" + std::to_string(10'000'000 + row);
}
std::string mostly_five(int row) { return row % 4 == 0 ? "" : "5"; }
std::string with_dashes(int row) { return row % 10 == 4 ? "-" : scattered(row) + ".5"; }
std::string with_a_typo(int row) { return row == 30 ? "12O" : scattered(row); }
std::string with_nines(int row) { return row % 10 == 4 ? "-999" : std::to_string(row % 30); }
std::string grades(int row) { return row % 3 == 0 ? "none yet" : std::to_string(row % 3); }
std::string gaps(int row) { return row % 5 == 0 ? "" : half(row); }

Words names(const std::vector<Exception>& exceptions) {
  Words result;
  for (const Exception& exception : exceptions) {
    result.push_back(exception.column + ": " + exception.reason);
  }
  return result;
}

TEST(FirstConfigTest, ColumnsThatAreNoFeaturesAreNamed) {
  const FirstConfig first = make_first_config(table(100, {{"count", counting},
                                                          {"car_id", scattered},
                                                          {"amount", scattered},
                                                          {"name", name_of},
                                                          {"same", constant},
                                                          {"empty", nothing},
                                                          {"bad", mostly_numbers},
                                                          {"grade", mostly_texts},
                                                          {"price", with_commas},
                                                          {"y", half}}),
                                              "y");
  EXPECT_EQ(names(first.id), (Words{"count: a different integer in every row",
                                    "car_id: a different integer in every row",
                                    "name: a different text in every row"}));
  EXPECT_EQ(names(first.ignore),
            (Words{"same: constant", "empty: no values",
                   "bad: 11 of 100 values are not numbers, the first in line 5: \"<5\"",
                   "price: numbers with a decimal comma or thousands separator, the first in line "
                   "2: \"0,5\"; write it as 0.5"}));
  EXPECT_EQ(names(first.categorical), (Words{"grade: numbers and text"}));
  EXPECT_EQ(first.config.data.ignore, (Words{"same", "empty", "bad", "price"}));
  EXPECT_EQ(first.config.data.target, Words{"y"});
  EXPECT_EQ(first.config.data.task, config::Task::kClassification);
  EXPECT_EQ(first.config.tag, "my_table");
}

TEST(FirstConfigTest, ColumnsThatTheReaderLeftOutAreNamedToo) {
  FirstConfig first = make_first_config(table(30, {{"same", constant}, {"y", half}}), "y");
  data::Schema schema;
  schema.columns = {{.name = "x"},
                    {.name = "same", .kind = data::ColumnKind::kIgnored, .is_declared = true},
                    {.name = "z", .kind = data::ColumnKind::kIgnored, .reason = "long texts"}};
  add_left_out(first, schema);
  EXPECT_EQ(names(first.ignore), (Words{"same: constant", "z: long texts"}));
  EXPECT_EQ(first.config.data.ignore, (Words{"same", "z"}));
}

TEST(FirstConfigTest, NumbersAreARegressionUnlessTheyAreFewWholeOnes) {
  const data::TableFacts facts = table(60, {{"few", constant}, {"many", scattered}});
  EXPECT_EQ(make_first_config(facts, "many").config.data.task, config::Task::kRegression);
  EXPECT_EQ(make_first_config(facts, "x").config.data.task, config::Task::kRegression);
  EXPECT_EQ(make_first_config(facts, "few").config.data.task, config::Task::kClassification);
}

TEST(FirstConfigTest, OnlyManyRowsHaveATestSplit) {
  const config::Config small = make_first_config(table(100, {{"y", half}}), "y").config;
  EXPECT_EQ(small.data.test_fraction, 0);
  const config::Config large = make_first_config(table(20'000, {{"y", half}}), "y").config;
  EXPECT_EQ(large.data.test_fraction, 0.1);
}

TEST(FirstConfigTest, FewRowsOfManyFeaturesGetALinearModelOfNumbers) {
  const auto recipe = [](const std::string& target, const TrainingRows& rows) {
    FirstConfig first =
        make_first_config(table(60, {{"few", constant}, {"many", scattered}}), target);
    choose_training(
        first, rows, [](const config::Config&) { return 0.01; }, 600);
    EXPECT_EQ(first.config.members, 5);
    return first.config.recipe;
  };
  EXPECT_EQ(recipe("many", {.num_rows = 100, .num_features = 67}), config::Recipe::kLinear);
  EXPECT_EQ(recipe("many", {.num_rows = 100, .num_features = 66}), config::Recipe::kRealmlp);
  EXPECT_EQ(recipe("few", {.num_rows = 100, .num_features = 67}), config::Recipe::kRealmlp);
  const auto explains = [](double r2, int64_t num_rows, bool only_numbers = true) {
    return TrainingRows{num_rows, 20, only_numbers, [r2] { return r2; }};
  };
  EXPECT_EQ(recipe("many", explains(0.91, 399)), config::Recipe::kLinear);
  EXPECT_EQ(recipe("many", explains(0.89, 399)), config::Recipe::kRealmlp);
  EXPECT_EQ(recipe("many", explains(0.91, 400)), config::Recipe::kRealmlp);
  EXPECT_EQ(recipe("many", explains(0.91, 399, false)), config::Recipe::kRealmlp);
}

// As many members and epochs as fit.
TEST(FirstConfigTest, TheTimeDecidesMembersEpochsAndRecipe) {
  const auto chosen = [](int64_t num_train, double time_limit, double epoch_seconds = 1) {
    FirstConfig first = make_first_config(table(100, {{"y", half}}), "y");
    choose_training(
        first, {.num_rows = num_train, .num_features = 2},
        [&](const config::Config&) { return epoch_seconds; }, time_limit);
    return first;
  };
  const FirstConfig soon = chosen(300, 3'000, 0.05);
  EXPECT_EQ(soon.config.members, 5);
  EXPECT_EQ(soon.config.member_recipes, (Words{"realmlp", "tabm"}));
  EXPECT_EQ(soon.config.training.epochs, 32);
  EXPECT_EQ(soon.training_seconds, 8);
  EXPECT_TRUE(chosen(300, 7, 0.05).config.member_recipes.empty());
  const FirstConfig enough = chosen(300, 3'000);
  EXPECT_EQ(enough.config.recipe, config::Recipe::kRealmlp);
  EXPECT_EQ(enough.config.members, 5);
  EXPECT_TRUE(enough.config.member_recipes.empty());
  EXPECT_EQ(enough.config.training.epochs, 32);
  EXPECT_EQ(enough.training_seconds, 160);
  EXPECT_EQ(enough.time_reason, "more take longer and are seldom better");
  const FirstConfig less = chosen(100, 51);
  EXPECT_EQ(less.config.members, 5);
  EXPECT_TRUE(less.config.member_recipes.empty());
  EXPECT_EQ(less.config.training.epochs, 10);
  EXPECT_EQ(less.training_seconds, 50);
  EXPECT_EQ(less.time_reason, "as many as fit on the machine that wrote this");
  EXPECT_EQ(chosen(128, 3'000).config.training.epochs, 64);  // of 2 steps each
  EXPECT_EQ(chosen(100, 3'000).config.training.epochs, 128);
  EXPECT_EQ(chosen(60, 3'000, 0.01).config.training.epochs, 128);
  const FirstConfig single = chosen(100, 39);
  EXPECT_EQ(single.config.members, 1);
  EXPECT_EQ(single.config.training.epochs, 39);
  EXPECT_EQ(chosen(40, 3'000).config.members, 1);
  const FirstConfig little = chosen(20'000, 7);
  EXPECT_EQ(little.config.recipe, config::Recipe::kPlain);
  EXPECT_EQ(little.config.members, 1);
  EXPECT_EQ(little.time_reason, "not enough time for realmlp, of which an epoch takes about 1.0 s");
  EXPECT_EQ(little.config.model.hidden_sizes, (std::vector<int64_t>{128, 128}));
  EXPECT_EQ(little.config.training.batch_size, 128);
  EXPECT_EQ(little.config.training.epochs, 30);
  EXPECT_EQ(little.config.training.max_seconds, 7);
  EXPECT_EQ(little.config.training.early_stopping.patience, 15);
  EXPECT_EQ(little.config.training.schedule.name, config::ScheduleName::kCosine);
  EXPECT_EQ(little.config.training.best_metric, config::BestMetric::kLoss);
  EXPECT_TRUE(little.config.pending.empty());
  EXPECT_EQ(chosen(100, 7).config.model.hidden_sizes, (std::vector<int64_t>{32, 32}));
}

TEST(FirstConfigTest, HexadecimalNumbersOfRowsAreIds) {
  const FirstConfig first = make_first_config(table(100, {{"uuid", hex}, {"y", half}}), "y");
  EXPECT_EQ(names(first.id), Words{"uuid: a different text in every row"});
  EXPECT_TRUE(first.categorical.empty());
}

TEST(FirstConfigTest, ANumberBesideMissingCellsOnlyIsNoFeature) {
  const FirstConfig first =
      make_first_config(table(100, {{"five", mostly_five}, {"y", half}}), "y");
  EXPECT_EQ(names(first.ignore), Words{"five: constant, apart from missing values"});
}

TEST(FirstConfigTest, AnIdThatIsCalledAsAPredictionIsIgnored) {
  const FirstConfig first = make_first_config(
      table(100, {{"prediction", name_of}, {"p_a", counting}, {"p_c", counting}, {"y", half}}),
      "y");
  EXPECT_EQ(
      names(first.ignore),
      (Words{
          "prediction: a different text in every row; the predictions have a column of this name",
          "p_a: a different integer in every row; the predictions have a column of this name"}));
  EXPECT_EQ(names(first.id), Words{"p_c: a different integer in every row"});
}

TEST(FirstConfigTest, WhatStandsForAMissingValueIsFoundInColumnsOfNumbers) {
  const std::vector<MissingCode> codes = find_missing_codes(table(300, {{"dashes", with_dashes},
                                                                        {"typo", with_a_typo},
                                                                        {"nines", with_nines},
                                                                        {"grades", grades},
                                                                        {"counts", scattered},
                                                                        {"y", half}}));
  Words found;
  for (const MissingCode& code : codes) {
    found.push_back(code.column + ": " + code.text + " in " + std::to_string(code.count));
  }
  EXPECT_EQ(found, (Words{"dashes: - in 30", "typo: 12O in 1", "nines: -999 in 30"}));
}

std::string dates_but_one(int row) { return row == 30 ? "0000-00-00" : date_of(row); }
std::string percents(int row) { return std::to_string(row) + ".5%"; }
std::string prices(int row) {
  return "\"" + std::to_string(1 + row % 3) + ",000." + std::to_string(10 + row % 90) + "\"";
}
std::string german(int row) { return std::to_string(1 + row % 28) + ".04.2023"; }

TEST(FirstConfigTest, ADateThatIsNoneStandsForAMissingValue) {
  const std::vector<MissingCode> codes = find_missing_codes(table(150, {{"when", dates_but_one}}));
  ASSERT_EQ(codes.size(), 1U);
  EXPECT_EQ(codes[0].text, "0000-00-00");
}

TEST(FirstConfigTest, NumbersWithUnitsAndThousandsAreFeatures) {
  const data::TableFacts facts =
      table(300, {{"share", percents}, {"price", prices}, {"day", german}, {"y", half}});
  EXPECT_EQ(facts.thousands, ',');
  EXPECT_EQ(kind_text(facts.columns[1]), "numbers with %");
  EXPECT_EQ(kind_text(facts.columns[2]), "numbers");
  EXPECT_EQ(kind_text(facts.columns[3]), "dates");
  const FirstConfig first = make_first_config(facts, "y");
  EXPECT_TRUE(first.id.empty());
  EXPECT_TRUE(first.ignore.empty());
  EXPECT_EQ(first.config.data.thousands, ",");
}

std::string large(int row) {
  return std::to_string(18446744073709551000ULL + static_cast<uint64_t>(row % 400));
}

TEST(FirstConfigTest, LargeNumbersThatDifferAreNotConstant) {
  const data::TableFacts facts = table(800, {{"key", large}, {"y", half}});
  EXPECT_EQ(kind_text(facts.columns[1]), "integers");
}

TEST(FirstConfigTest, RowsWithoutATargetAreLeftOut) {
  const FirstConfig first = make_first_config(table(100, {{"y", gaps}}), "y");
  EXPECT_TRUE(first.config.data.drop_rows_without_target);
  EXPECT_FALSE(
      make_first_config(table(100, {{"y", half}}), "y").config.data.drop_rows_without_target);
}

TEST(FirstConfigTest, ATaskThatIsGivenIsTaken) {
  const data::TableFacts facts = table(60, {{"few", constant}, {"y", half}});
  const FirstConfig first = make_first_config(facts, "few", config::Task::kRegression);
  EXPECT_EQ(first.config.data.task, config::Task::kRegression);
  EXPECT_EQ(first.task_reason, "");
}

TEST(FirstConfigTest, SaysWhatAColumnWouldBeAsATarget) {
  const data::TableFacts facts = table(
      100,
      {{"y", half}, {"name", name_of}, {"i", counting}, {"gaps", gaps}, {"price", with_commas}});
  Words targets;
  Words kinds;
  for (const data::ColumnFacts& column : facts.columns) {
    targets.push_back(target_text(column));
    kinds.push_back(kind_text(column));
  }
  EXPECT_EQ(targets, (Words{"numeric", "2 classes", "", "", "2 classes", ""}));
  EXPECT_EQ(kinds, (Words{"numbers", "text", "row identifiers", "row numbers", "text",
                          "numbers with commas"}));
}

// Each row has one of its own, as it would of a name.
TEST(FirstConfigTest, DatesAreFeaturesAndNoTargets) {
  const data::TableFacts facts = table(100, {{"when", date_of}, {"y", half}});
  EXPECT_EQ(kind_text(facts.columns[1]), "dates");
  EXPECT_EQ(target_text(facts.columns[1]), "");
  const FirstConfig first = make_first_config(facts, "y");
  EXPECT_TRUE(first.id.empty());
  EXPECT_TRUE(first.ignore.empty());
}

TEST(FirstConfigTest, LikelyTargetsHaveATellingNameOrStandAtTheEnd) {
  EXPECT_EQ(likely_targets(table(50, {{"Species", half}, {"a", scattered}, {"b", constant}})),
            (Words{"Species", "a"}));
  EXPECT_EQ(likely_targets(table(50, {{"a", half}, {"name", name_of}})), (Words{"a"}));
}

TEST(FirstConfigTest, ATargetThatIsNotThereOrCannotBeLearntIsRefused) {
  const data::TableFacts facts =
      table(100, {{"price", with_commas}, {"name", name_of}, {"y", half}});
  const auto refusal = [&](const std::string& target, ErrorKind kind) {
    const Error error = test::error_of([&] { make_first_config(facts, target); });
    EXPECT_EQ(error.kind(), kind);
    std::string message = error.what();
    if (const auto at = message.find(facts.file); at != std::string::npos) {
      message.replace(at, facts.file.size(), "FILE");
    }
    return message;
  };
  EXPECT_EQ(refusal("Price", ErrorKind::kUsage),
            "--target: FILE has no column \"Price\"; did you mean \"price\"?");
  EXPECT_EQ(refusal("something else", ErrorKind::kUsage),
            "--target: FILE has no column \"something else\"; trainer init without --target lists "
            "them");
  EXPECT_EQ(refusal("price", ErrorKind::kData),
            "FILE:2: column \"price\": expected a number, got \"0,5\"; write it as 0.5");
  EXPECT_EQ(refusal("name", ErrorKind::kData),
            "FILE: column \"name\" cannot be predicted: almost every text is different; choose "
            "another --target");
}

std::string none(int row) { return row % 3 == 0 ? "None" : half(row); }
std::string rarely_none(int row) { return row % 20 == 0 ? "None" : half(row); }
std::string none_or_empty(int row) { return row % 3 == 0 ? row % 2 == 0 ? "" : "NA" : half(row); }
std::string number_or_none(int row) { return row % 3 == 0 ? "none" : counting(row); }

TEST(MissingClassTest, AClassMayBeCalledNone) {
  const data::TableFacts facts = table(60, {{"y", none}, {"z", rarely_none}, {"e", none_or_empty}});
  EXPECT_EQ(facts.columns[1].missing_texts,
            (std::vector<std::pair<std::string, int64_t>>{{"None", 20}}));
  EXPECT_EQ(find_missing_class(facts, "y"), "None");
  EXPECT_EQ(find_missing_class(facts, "z"), "");
  EXPECT_EQ(find_missing_class(facts, "e"), "");
  EXPECT_EQ(find_missing_class(table(60, {{"y", none}, {"n", number_or_none}}), "y"), "");
}

}  // namespace
}  // namespace trainer::wizard
