// SPDX-License-Identifier: Apache-2.0
#include "trainer/run/tracking/query.h"

#include <gtest/gtest.h>

#include "support/error_of.h"

namespace trainer::tracking {
namespace {

RunEntry make_entry(const std::string& name, const std::string& learning_rate, double val_loss,
                    double val_accuracy) {
  RunEntry entry;
  entry.name = name;
  entry.tag = "tag " + name;
  entry.state = State::kComplete;
  entry.started = "2026-01-02T03:04:05+0000";
  entry.seconds = 90;
  entry.best_metric = "val.loss";
  entry.best = val_loss;
  entry.metrics = {{"val.loss", val_loss}, {"val.accuracy", val_accuracy}};
  entry.settings = {{"training.learning_rate", learning_rate}, {"model.hidden_sizes", "[64, 32]"}};
  return entry;
}

std::vector<RunEntry> three() {
  return {make_entry("a", "0.001", 0.5, 0.7), make_entry("b", "0.01", 0.25, 0.9),
          make_entry("c", "0.1", 1, 0.8)};
}

std::string names_of(const std::vector<RunEntry>& entries) {
  std::string names;
  for (const RunEntry& entry : entries) names += entry.name;
  return names;
}

std::string chosen(const std::string& expression) {
  return names_of(filtered(three(), expression));
}

TEST(RunQueryTest, ComparesNumbersAsNumbers) {
  EXPECT_EQ(chosen("training.learning_rate>1e-3"), "bc");
  EXPECT_EQ(chosen("training.learning_rate >= 1e-3"), "abc");
  EXPECT_EQ(chosen("val.loss<0.5"), "b");
  EXPECT_EQ(chosen("val.loss<=0.50"), "ab");
  EXPECT_EQ(chosen("val.loss==1"), "c");
  EXPECT_EQ(chosen("val.loss!=1"), "ab");
  EXPECT_EQ(chosen("best<0.3"), "b");
}

TEST(RunQueryTest, ComparesTexts) {
  EXPECT_EQ(chosen("name=a"), "a");
  EXPECT_EQ(chosen("tag='tag b'"), "b");
  EXPECT_EQ(chosen("tag=\"tag c\""), "c");
  EXPECT_EQ(chosen("tag~TAG"), "abc");
  EXPECT_EQ(chosen("state=complete"), "abc");
  EXPECT_EQ(chosen("started>2026-01-02"), "abc");
  EXPECT_EQ(chosen("started>2026-01-03"), "");
  EXPECT_EQ(chosen("model.hidden_sizes=[64,32]"), "abc");
  EXPECT_EQ(chosen("time>1m"), "abc");
  EXPECT_EQ(chosen("time>=2m"), "");
}

TEST(RunQueryTest, JoinsComparisons) {
  EXPECT_EQ(chosen("name=a or name=b and val.loss>0.4"), "a");
  EXPECT_EQ(chosen("(name=a or name=b) and val.loss>0.4"), "a");
  EXPECT_EQ(chosen("(name=a or name=b)and(val.loss<0.4)"), "b");
  EXPECT_EQ(chosen("not name=a"), "bc");
  EXPECT_EQ(chosen("not (name=a or name=b)"), "c");
}

TEST(RunQueryTest, KnowsShortNames) {
  EXPECT_EQ(chosen("lr>0.01"), "c");
  EXPECT_EQ(chosen("learning_rate>0.01"), "c");
  EXPECT_EQ(chosen("validation.loss>0.9"), "c");
  EXPECT_EQ(chosen("batch_size=32"), "abc");  // the default of all
}

TEST(RunQueryTest, WhatARunHasNotIsNeitherMoreNorLess) {
  std::vector<RunEntry> entries = three();
  entries[1].metrics.clear();
  entries[2].problem = "its configuration cannot be read";
  EXPECT_EQ(names_of(filtered(entries, "val.loss<9")), "ac");
  EXPECT_EQ(names_of(filtered(entries, "not val.loss<9")), "b");
  EXPECT_EQ(names_of(filtered(entries, "lr>0")), "ab");
}

TEST(RunQueryTest, SortsMetricsWithTheBestFirst) {
  std::vector<RunEntry> entries = three();
  sort_entries(entries, "val.loss");
  EXPECT_EQ(names_of(entries), "bac");
  sort_entries(entries, "val.accuracy");
  EXPECT_EQ(names_of(entries), "bca");
  sort_entries(entries, "-val.accuracy");
  EXPECT_EQ(names_of(entries), "acb");
  sort_entries(entries, "-lr");
  EXPECT_EQ(names_of(entries), "cba");
  entries[0].metrics.clear();
  sort_entries(entries, "val.loss");
  EXPECT_EQ(names_of(entries), "bac");
  sort_entries(entries, "-val.loss");
  EXPECT_EQ(names_of(entries), "abc");
}

TEST(RunQueryTest, BestOfDifferentMetricsHasNoOrder) {
  std::vector<RunEntry> entries = three();
  entries[0].best_metric = "val.accuracy";
  EXPECT_EQ(test::message_of(ErrorKind::kUsage, [&] { sort_entries(entries, "best"); }),
            "best: the runs have different metrics; name one of val.accuracy or val.loss");
}

TEST(RunQueryTest, SaysWhatIsWrongAndWhere) {
  const auto problem = [](const std::string& expression) {
    return test::message_of(ErrorKind::kUsage, [&] { chosen(expression); });
  };
  EXPECT_EQ(problem(""), "--filter \"\": expected a name at the end");
  EXPECT_EQ(problem("lr>"), "--filter \"lr>\": expected a value at the end");
  EXPECT_EQ(problem("lr 1"), "--filter \"lr 1\": expected one of = != < <= > >= ~ before \"1\"");
  EXPECT_EQ(problem("lr>1 name=a"),
            "--filter \"lr>1 name=a\": expected \"and\" or \"or\" before \"name=a\"");
  EXPECT_EQ(problem("(lr>1"), "--filter \"(lr>1\": expected a closing parenthesis at the end");
  EXPECT_EQ(problem("tag='a"),
            "--filter \"tag='a\": expected a value with a closing quote before \"'a\"");
  EXPECT_EQ(problem("time>x"), "time: expected a time such as 90s, 10m or 2h, got \"x\"");
  EXPECT_EQ(problem("val.los>1"), "\"val.los\": no run has that; did you mean \"val.loss\"?");
  EXPECT_EQ(problem("xyzzy>1"),
            "\"xyzzy\": expected name, kind, state, tag, note, started, time, best, epochs, a "
            "configuration key, or a metric: val.accuracy, val.loss");
  EXPECT_EQ(problem("dropout>1"),
            "\"dropout\": several keys end like that; name one of model.dropout or "
            "training.schedule.dropout");
}

TEST(RunQueryTest, ShowsValuesAsPeopleReadThem) {
  const RunEntry entry = make_entry("a", "0.001", 0.5, 0.75);
  EXPECT_EQ(shown_value(entry, "best"), "val.loss 0.5000");
  EXPECT_EQ(shown_value(entry, "val.accuracy"), "75.00 %");
  EXPECT_EQ(shown_value(entry, "time"), "1 min 30 s");
  EXPECT_EQ(shown_value(entry, "training.learning_rate"), "0.001");
  EXPECT_EQ(shown_value(entry, "test.loss"), "-");
  EXPECT_EQ(shown_value(entry, "note"), "-");
}

}  // namespace
}  // namespace trainer::tracking
