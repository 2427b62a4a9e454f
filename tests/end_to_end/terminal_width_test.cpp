// SPDX-License-Identifier: Apache-2.0
// What people see on a terminal of 80 columns: no command shows a longer line, which the terminal
// would break within a word.
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "trainer/base/text/text_table.h"

#include "support/files.h"
#include "support/process.h"
#include "support/program_test.h"
#include "support/python.h"

namespace trainer {
namespace {

using test::ProcessResult;

constexpr std::size_t kColumns = 80;

/// Long names of columns and classes, with characters of several bytes and of two columns.
std::string wide_table() {
  std::string text =
      "the_temperature_of_the_room_in_degrees_celsius_at_noon,Größe des Grundstücks in "
      "Quadratmetern,都道府県,a column with a name of several words and more,kind\n";
  for (int i = 0; i < 240; ++i) {
    const double x = (i * 37 % 101) / 10.0;
    text += fmt::format(
        "{},{},{},{},{}\n", x, 1000000 + i * 7919 % 997, i % 3 == 0 ? "東京都" : "大阪府",
        i % 5 == 0 ? "" : fmt::format("{}", i % 7),
        x > 5 ? "a kind whose name is much longer than any table has room for" : "Ünïcode");
  }
  return text;
}

class TerminalWidthTest : public test::ProgramTest {
 protected:
  void show(const std::string& arguments) const {
    const ProcessResult result = test::run_process(fmt::format(
        "cd {} && {} {} {} {}", folder_.path().string(),
        test::python_script("end_to_end/on_terminal.py"), kColumns, test::kTrainer, arguments));
    EXPECT_EQ(result.exit_code, 0) << arguments << "\n" << result.out << result.err;
    for (const std::string& line : test::lines_of(result.out)) {
      EXPECT_LE(display_width(line), kColumns) << arguments << "\n" << line;
    }
  }

  void show_all(const std::string& table, const std::string& target) const {
    const std::string few = " training.epochs=2 threads=1";
    show(fmt::format("init {}", table));
    show(fmt::format("init {} --target '{}' -o t.yaml --force", table, target));
    show("config check --config t.yaml");
    show("config schedule --config t.yaml --epochs 3");
    show("--config t.yaml recipe=plain members=1 tag=long_names_of_runs_are_shortened --timing" +
         few);
    show("--config t.yaml recipe=plain output_dir=runs" + few);
    for (const char* command :
         {"eval", "inspect", "explain", "explain --row 3", "report", "runs list",
          "runs show latest", "verify runs/latest", "predict new.csv --interval 0.5 -o out.csv",
          "export -o m.safetensors", "runs note latest good"}) {
      show(command);
    }
    const std::vector<std::string> runs = test::file_names(path("runs"));
    show(fmt::format("runs compare {} {}", runs[1], runs[2]));
    show(fmt::format("runs remove {} --yes", runs[1]));
    show("runs purge");
    show(fmt::format("runs restore {}", runs[1]));
    show(fmt::format("fit {} --target '{}' members=2 --time 5s -o f.yaml --force", table, target));
    show("cv --config t.yaml recipe=plain --folds 2" + few);
    show("ensemble --config t.yaml recipe=plain --members 2" + few);
    show("find-batch --config t.yaml recipe=plain --max-batch 64 threads=1");
    show("profile --config t.yaml recipe=plain --steps 3 threads=1");
  }
};

TEST_F(TerminalWidthTest, OfClasses) {
  std::filesystem::copy(test::kSource / "configs/data/penguins.csv", path("t.csv"));
  std::filesystem::copy(path("t.csv"), path("new.csv"));
  show_all("t.csv", "species");
}

TEST_F(TerminalWidthTest, OfNumbers) {
  std::filesystem::copy(test::kSource / "configs/data/auto_mpg.csv", path("t.csv"));
  std::filesystem::copy(path("t.csv"), path("new.csv"));
  show_all("t.csv", "miles_per_gallon");
}

TEST_F(TerminalWidthTest, OfLongNames) {
  folder_.write("t.csv", wide_table());
  folder_.write("new.csv", wide_table());
  show_all("t.csv", "kind");
}

TEST_F(TerminalWidthTest, OfHelpAndTheMachine) {
  const ProcessResult help = trainer("--help");
  for (const std::string& line : test::lines_of(help.out)) EXPECT_LE(display_width(line), kColumns);
  for (const char* command : {"train --help", "predict --help", "doctor", "help lr", "--version",
                              "runs list --help", "config print --help", "help training"}) {
    show(command);
  }
}

}  // namespace
}  // namespace trainer
