// SPDX-License-Identifier: Apache-2.0
#include "cli/manual.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "trainer/config/fields.h"

#include "cli/commands.h"
#include "cli/help_text.h"
#include "cli/option.h"

namespace trainer::cli {
namespace {

bool has_line(const std::string& page, const std::string& line) {
  return page.find("\n" + line + "\n") != std::string::npos;
}

TEST(ManualTest, HasEverythingThatTheTablesHave) {
  const std::string page = manual_page(command_table());
  for (const CommandRow& row : command_table()) {
    if (row.make == nullptr) continue;
    EXPECT_NE(page.find(fmt::format("\n.SS \"trainer {} ", roff_text(row.name))), std::string::npos)
        << row.name;
    const auto command = row.make();
    for (const Option& option : command->options()) {
      const std::string name = is_positional(option) ? option.value_name : names_of(option).back();
      EXPECT_NE(page.find(roff_text(name)), std::string::npos) << row.name << " " << name;
    }
  }
  for (const config::Field& field : config::fields()) {
    EXPECT_TRUE(has_line(page, fmt::format(".B \"{}\"", field.path))) << field.path;
  }
  for (const ExitCode& code : exit_codes()) {
    EXPECT_TRUE(has_line(page, fmt::format(".B \"{}\"", code.code))) << code.code;
  }
  for (const char* section :
       {"NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "COMMANDS", "CONFIGURATION", "EXIT STATUS",
        "ENVIRONMENT", "FILES", "EXAMPLES", "SEE ALSO"}) {
    EXPECT_TRUE(has_line(page, std::string(".SH ") + section)) << section;
  }
}

TEST(ManualTest, IsPlainAsciiWithoutAnOpenEscape) {
  const std::string page = manual_page(command_table());
  EXPECT_TRUE(std::all_of(page.begin(), page.end(),
                          [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); }));
}

TEST(RoffTest, EscapesWhatMeansSomething) {
  EXPECT_EQ(roff_text("a-b \\n \"c\" 'd' `e` ^~"),
            "a\\-b \\en \\(dqc\\(dq \\(aqd\\(aq \\(gae\\(ga "
            "\\(ha\\(ti");
}

TEST(RoffTest, WritesSectionsItemsAndLines) {
  ManPage page("X", "2026-01-02", "x 1");
  page.section("A");
  page.paragraph(".a `b-c`");
  page.paragraph("d");
  page.item("--e", "F", "g");
  page.item("h i", "", "j");
  page.lines("k\n\n.l");
  EXPECT_EQ(
      page.text(),
      ".\\\" Made by `trainer manual`.\n.TH X 1 2026-01-02 \"x 1\"\n.ad l\n.nh\n.SH A\n"
      "\\&.a \\fBb\\-c\\fR\\&\n.PP\nd\\&\n.TP\n.BI \"\\-\\-e \" \"F\"\ng\\&\n.TP\n.B \"h i\"\nj"
      "\\&\n.PP\n.RS 4\n.nf\nk\n.sp\n\\&.l\n.fi\n.RE\n");
}

}  // namespace
}  // namespace trainer::cli
