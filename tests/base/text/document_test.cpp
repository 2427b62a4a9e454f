// SPDX-License-Identifier: Apache-2.0
#include "trainer/base/text/document.h"

#include <string>
#include <utility>

#include <gtest/gtest.h>

namespace trainer {
namespace {

Document example() {
  Document document;
  document.add("model.name", "model", "mlp");
  document.add("model.size", "", {1234, "1,234 parameters"});
  document.data("seed", 7);
  document.line("a longer label", "for people");
  Table& table = document.table(
      "stages", {{"stage", "stage", Align::kLeft}, {"seconds", "time"}, {"", "share"}});
  table.add({"read", {0.5, "500 ms"}, "5 %"});
  table.add({"a | b", {2, "2 s"}, "20 %"});
  document.paragraph("That is all.");
  return document;
}

TEST(DocumentTest, PeopleSeeLinesTablesAndParagraphsInTheirOrder) {
  EXPECT_EQ(example().text(),
            "model           mlp\n"
            "                1,234 parameters\n"
            "a longer label  for people\n"
            "\n"
            "stage    time  share\n"
            "read   500 ms    5 %\n"
            "a | b     2 s   20 %\n"
            "\n"
            "That is all.\n");
}

TEST(DocumentTest, ProgramsGetWhatHasAKeyInTheSameOrder) {
  EXPECT_EQ(example().json().dump(),
            R"({"model":{"name":"mlp","size":1234},"seed":7,)"
            R"("stages":[{"stage":"read","seconds":0.5},{"stage":"a | b","seconds":2}]})");
}

TEST(DocumentTest, MarkdownHasListsAndTables) {
  EXPECT_EQ(example().markdown(),
            "- model: mlp\n"
            "  - 1,234 parameters\n"
            "- a longer label: for people\n"
            "\n"
            "| stage | time | share |\n"
            "|---|---:|---:|\n"
            "| read | 500 ms | 5 % |\n"
            "| a \\| b | 2 s | 20 % |\n"
            "\n"
            "That is all.\n");
}

TEST(DocumentTest, LinesContinueBelowTheirBeginning) {
  Document document;
  document.line("data", "penguins.csv with 344 rows");
  document.line("", "and more");
  document.paragraph("Words that are many more than there is room for.");
  EXPECT_EQ(document.text(30),
            "data        penguins.csv with\n"
            "            344 rows\n"
            "            and more\n"
            "\n"
            "Words that are many more than\n"
            "there is room for.\n");
}

TEST(DocumentTest, WithoutATerminalOnlyParagraphsAreDivided) {
  Document document;
  document.line("data", std::string(100, 'x') + " y");
  document.paragraph(std::string(79, 'x') + " y");
  EXPECT_EQ(document.text(),
            "data        " + std::string(100, 'x') + " y\n\n" + std::string(79, 'x') + "\ny\n");
}

TEST(DocumentTest, PicturesStayAsTheyAre) {
  Document document;
  document.line("rate", "0.1");
  document.picture("1 |  # #\n0 +-----\n");
  EXPECT_EQ(document.text(4), "rate        0.1\n\n1 |  # #\n0 +-----\n");
  EXPECT_EQ(document.markdown(), "- rate: 0.1\n\n```\n1 |  # #\n0 +-----\n```\n");
}

TEST(DocumentTest, AnotherIsAppended) {
  Document document;
  document.add("a", "a", "1");
  Document other;
  other.add("b", "b", "2");
  other.table("c", {{"d", "d"}}).add({"3"});
  document.append(std::move(other));
  EXPECT_EQ(document.json().dump(), R"({"a":"1","b":"2","c":[{"d":"3"}]})");
  EXPECT_EQ(document.text(),
            "a           1\n"
            "b           2\n"
            "\n"
            "d\n"
            "3\n");
}

TEST(DocumentTest, NothingIsAnEmptyObject) {
  EXPECT_EQ(Document().text(), "");
  EXPECT_EQ(Document().json().dump(), "{}");
}

TEST(TableTest, HiddenColumnsAndMissingDataAreLeftOut) {
  Table table({{"name", "name", Align::kLeft}, {"size", "size"}});
  table.add({"a", without_data("-")});
  table.add({"b", {3, "3 B"}});
  EXPECT_EQ(table.json().dump(), R"([{"name":"a"},{"name":"b","size":3}])");
  EXPECT_EQ(table.text(), "name  size\na        -\nb      3 B\n");
  Table hidden({{"name", "name"}, {.key = "raw", .title = "", .is_shown = false}});
  hidden.add({"a", {1, ""}});
  EXPECT_EQ(hidden.json().dump(), R"([{"name":"a","raw":1}])");
  EXPECT_EQ(hidden.text(), "name\n   a\n");
  EXPECT_EQ(hidden.markdown(), "| name |\n|---:|\n| a |\n");
}

TEST(TableTest, PeopleSeeTheFirstRowsAndHowManyThereAre) {
  Table table({{"name", "name", Align::kLeft}});
  for (const char* name : {"a", "b", "c"}) table.add({name});
  table.show_at_most(2, "column", " (--json has all)");
  EXPECT_EQ(table.text(), "name\na\nb\nand 1 more column (--json has all)\n");
  EXPECT_EQ(table.json().size(), 3U);
}

TEST(TableTest, ATitleStandsAboveAndNotesBelow) {
  Table table({{"name", "name", Align::kLeft}});
  table.set_title("These are names:");
  table.add_note("There may be others.");
  table.add({"a"});
  table.add({"b"});
  table.show_at_most(1, "name");
  EXPECT_EQ(table.text(12),
            "These are\nnames:\nname\na\nand 1 more\nname\nThere may be\nothers.\n");
  EXPECT_EQ(table.markdown(),
            "These are names:\n\n| name |\n|---|\n| a |\n\nand 1 more name\n\n"
            "There may be others.\n");
}

TEST(TableTest, ASummaryIsBelowAllRowsAndNotForPrograms) {
  Table table({{"name", "name", Align::kLeft}, {"size", "size"}});
  table.add_summary({"all", "3"});
  table.add({"a", "1"});
  table.add({"b", "2"});
  table.show_at_most(1, "part");
  EXPECT_EQ(table.text(), "name  size\na        1\nall      3\nand 1 more part\n");
  EXPECT_EQ(table.json().size(), 2U);
}

TEST(TableTest, TextsAreCutUntilATableFits) {
  Table table({{"name", "name", Align::kLeft}, {"value", "value"}, {"note", "note", Align::kLeft}});
  table.add({"a_long_name_of_a_run", "12345", "short"});
  table.add({"b", "6", "a remark of many words"});
  EXPECT_EQ(table.text(42),
            "name              value  note\n"
            "a_long_name_o...  12345  short\n"
            "b                     6  a remark of ma...\n");
  EXPECT_EQ(table.text(10), table.text(25)) << "numbers are never cut, nor texts to nothing";
}

TEST(TableTest, ACellIsOneLineOfItsWidth) {
  Table table({{.key = "cell", .title = "cell", .align = Align::kLeft, .max_width = 9}});
  table.add({"two\nlines"});
  EXPECT_EQ(table.text(), "cell\n\"two\\n...\n");
  EXPECT_EQ(table.json()[0]["cell"], "two\nlines");
}

TEST(TableTest, CsvHasQuotesWhereTheyAreNeeded) {
  Table table({{"name", "name", Align::kLeft}, {"value", "value"}});
  table.add({"a, b", "1"});
  EXPECT_EQ(table.csv(), "name,value\n\"a, b\",1\n");
}

}  // namespace
}  // namespace trainer
