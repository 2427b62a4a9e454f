// SPDX-License-Identifier: Apache-2.0
// `trainer runs`: what the program says of its own runs.
#include <signal.h>

#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "trainer/base/text/json.h"

#include "support/comes_true.h"
#include "support/program_test.h"
#include "support/running_program.h"

namespace trainer {
namespace {

namespace fs = std::filesystem;
using test::ProcessResult;

const std::string kShortRun = "-q threads=1 data.synthetic.num_samples=200 model.hidden_sizes=[8] ";

class RunsTest : public test::ProgramTest {
 protected:
  ProcessResult runs(const std::string& arguments) { return trainer("runs " + arguments); }
  Json list(const std::string& arguments = "") {
    const ProcessResult result = runs("list --json " + arguments);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return parse_json(result.out);
  }
  void train(const std::string& arguments) {
    ASSERT_EQ(trainer(kShortRun + arguments).exit_code, 0);
  }
};

TEST_F(RunsTest, ListsComparesAndRemovesThem) {
  train("--epochs 2 --tag one");
  train("--epochs 3 --tag two --lr 0.01");
  const Json all = list("--sort name");
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0]["tag"], "one");
  EXPECT_EQ(all[0]["state"], "complete");
  EXPECT_EQ(all[0]["epochs"], 2);
  EXPECT_EQ(all[1]["settings"]["training.learning_rate"], "0.01");
  EXPECT_EQ(list("--filter lr\\>1e-3")[0]["tag"], "two");
  const std::string one = all[0]["name"];
  const std::string two = all[1]["name"];

  EXPECT_EQ(runs("note " + one + " 'the first'").exit_code, 0);
  EXPECT_EQ(runs("note " + one).out, "the first\n");
  const ProcessResult table = runs("list --columns val.accuracy,lr");
  EXPECT_NE(table.out.find("val.accuracy  training.learning_rate\n"), std::string::npos)
      << table.out;
  EXPECT_NE(table.out.find("the first"), std::string::npos) << table.out;

  const ProcessResult compared = runs("compare runs/" + one + " " + two);
  EXPECT_EQ(compared.exit_code, 0) << compared.err;
  EXPECT_NE(compared.out.find("training.learning_rate "), std::string::npos) << compared.out;
  EXPECT_TRUE(runs("show latest").out.starts_with("run folder  ")) << runs("show latest").out;

  const ProcessResult asked = runs("remove --filter tag=two");
  EXPECT_EQ(asked.exit_code, 0);
  EXPECT_NE(asked.out.find("; nothing was removed: add --yes to remove them\n"), std::string::npos)
      << asked.out;
  EXPECT_EQ(list().size(), 2U);
  EXPECT_EQ(runs("remove --keep-best 0 --filter tag=two --yes").exit_code, 0);
  ASSERT_EQ(list().size(), 1U);
  EXPECT_EQ(fs::read_symlink(folder_.path() / "runs/latest"), one);
  EXPECT_EQ(runs("remove --filter tag=two").out, "nothing to remove\n");
}

TEST_F(RunsTest, WhatWasRemovedIsRestoredOrPurged) {
  train("--epochs 1 --tag one");
  const std::string one = list()[0]["name"];
  const ProcessResult removed = runs("remove latest --yes");
  EXPECT_NE(removed.out.find("\nkept in     runs/.trash until `trainer runs purge` deletes them; "
                             "`trainer runs restore` undoes it\n"),
            std::string::npos)
      << removed.out;
  EXPECT_EQ(list().size(), 0U);
  EXPECT_NE(runs("purge").out.find("; nothing was deleted: add --yes to delete them for good\n"),
            std::string::npos);
  EXPECT_TRUE(trainer("__complete fish runs restore ''").out.starts_with(one));
  EXPECT_EQ(runs("restore " + one).out, "restored runs/" + one + "\n");
  EXPECT_EQ(list().size(), 1U);
  EXPECT_EQ(trainer("eval runs/latest -q").exit_code, 0);
  EXPECT_EQ(runs("remove " + one + " --yes").exit_code, 0);
  EXPECT_EQ(runs("purge --yes runs/" + one).exit_code, 0);
  EXPECT_FALSE(fs::exists(folder_.path() / "runs/.trash"));
  EXPECT_EQ(runs("purge --yes").out, "nothing to delete\n");
  EXPECT_EQ(runs("restore " + one).err,
            "error: " + one +
                ": expected a removed run, which is in runs/.trash; `trainer runs purge` lists "
                "them\n");
}

TEST_F(RunsTest, WhatMovesTheCursorIsShownEscaped) {
  train("--epochs 1");
  EXPECT_EQ(runs("note latest \"$(printf 'a\\033[31mb')\"").exit_code, 0);
  EXPECT_EQ(runs("note latest").out, "a\\x1b[31mb\n");
  fs::rename(fs::canonical(folder_.path() / "runs/latest"), folder_.path() / "runs/n\x1b]0;evil\a");
  for (const char* command : {"list", "list --json", "list --csv", "list --markdown"}) {
    EXPECT_EQ(runs(command).out.find('\x1b'), std::string::npos) << command;
  }
  const ProcessResult wrong = trainer("explain \"$(printf 'a\\033[31m')\"");
  EXPECT_EQ(wrong.exit_code, 7);
  EXPECT_TRUE(wrong.err.starts_with("error: a\\x1b[31m: no such checkpoint")) << wrong.err;
}

TEST_F(RunsTest, SaysHowRunsAreAndHowTheyEnded) {
  // A run at work, which is stopped; one that is killed; and one that fails.
  const std::string endless = kShortRun + "training.schedule.name=constant --epochs 100000 ";
  const auto wait_for_epochs = [&](const std::string& parent) {
    const fs::path metrics = folder_.path() / parent / "latest/metrics.jsonl";
    ASSERT_TRUE(
        test::comes_true([&] { return fs::exists(metrics) && fs::file_size(metrics) >= 1000; }));
  };
  test::RunningProgram first(folder_.path(), endless + "--output-dir a", test::Moments::kPassed);
  test::RunningProgram second(folder_.path(), endless + "--output-dir b", test::Moments::kPassed);
  wait_for_epochs("a");
  wait_for_epochs("b");
  EXPECT_EQ(list("a")[0]["state"], "running");
  const ProcessResult refused = runs("remove a/latest --yes");
  EXPECT_EQ(refused.exit_code, 8);
  EXPECT_EQ(refused.err, "error: a/latest: this run is being worked on; stop it first\n");
  test::RunningProgram watching(folder_.path(), "runs watch a/latest", test::Moments::kPassed);
  test::RunningProgram reporting(folder_.path(), "report a/latest --watch -o live.html",
                                 test::Moments::kPassed);
  const auto live = [&] { return test::read_file(folder_.path() / "live.html"); };
  EXPECT_TRUE(test::comes_true([&] { return live().find("\"refresh\":") != std::string::npos; }));
  first.send(SIGTERM);
  EXPECT_EQ(first.finish().exit_code, 143);
  EXPECT_EQ(reporting.finish().exit_code, 0);
  EXPECT_EQ(live().find("\"refresh\":"), std::string::npos);
  const ProcessResult watched = watching.finish();
  EXPECT_EQ(watched.exit_code, 0) << watched.err;
  EXPECT_TRUE(watched.out.ends_with("stopped: SIGTERM\n")) << watched.out;
  EXPECT_EQ(list("a")[0]["state"], "stopped");
  EXPECT_EQ(list("a")[0]["reason"], "SIGTERM");
  second.send(SIGKILL);
  second.finish();
  EXPECT_EQ(list("b")[0]["state"], "killed");
  EXPECT_EQ(trainer(kShortRun + "--lr 1e30 training.on_nonfinite=stop --output-dir c "
                                "training.schedule.name=constant training.gradient_clip_norm=0 "
                                "training.optimizer.name=sgd")
                .exit_code,
            6);
  EXPECT_EQ(list("c")[0]["state"], "failed");
  EXPECT_NE(list("c")[0]["reason"].get<std::string>().find("step 2"), std::string::npos)
      << list("c")[0]["reason"];
}

TEST_F(RunsTest, MistakesAreNamed) {
  const auto expect = [&](const std::string& arguments, int exit_code, const std::string& message) {
    const ProcessResult result = runs(arguments);
    EXPECT_EQ(result.exit_code, exit_code) << arguments;
    EXPECT_EQ(result.err, message) << arguments;
  };
  expect("list", 8, "error: runs: expected a folder with runs: No such file or directory\n");
  fs::create_directory(folder_.path() / "runs");
  expect("list", 0, "no runs in runs\n");
  expect("show nothing", 2,
         "error: nothing: expected a run folder, or the name of one in runs; `trainer runs list` "
         "shows them\n");
  expect("compare a", 2, "error: runs compare: name two runs or more\n");
  expect("remove", 2,
         "error: runs remove: name runs, or say which by --filter, --keep-best or --older-than\n");
  expect("remove a --keep-best 3", 2, "error: runs remove: name runs or rules, not both\n");
  expect("remove --older-than soon", 2,
         "error: --older-than: expected a time such as 30d or 12h, got \"soon\"\n");
  expect("list --json --csv", 2, "error: runs list: choose one of --json, --csv and --markdown\n");
  expect("list --filter 'lr>'", 2, "error: --filter \"lr>\": expected a value at the end\n");
}

}  // namespace
}  // namespace trainer
