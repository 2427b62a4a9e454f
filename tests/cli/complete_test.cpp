// SPDX-License-Identifier: Apache-2.0
#include "cli/complete.h"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "cli/commands.h"
#include "cli/option.h"
#include "support/temporary_folder.h"

namespace trainer::cli {
namespace {

using Words = std::vector<std::string>;

Completion complete_words(const Words& words) { return complete(command_table(), words); }

/// The texts of all candidates; "~" behind those that are parts of words.
Words candidates(const Words& words) {
  Words texts;
  for (const Candidate& candidate : complete_words(words).candidates) {
    texts.push_back(candidate.text + (candidate.is_part ? "~" : ""));
  }
  return texts;
}

bool offers(const Words& words, const std::string& text) {
  const Words all = candidates(words);
  return std::find(all.begin(), all.end(), text) != all.end();
}

TEST(CompleteTest, OffersCommandsAndKeysAtFirst) {
  const Words all = candidates({""});
  for (const CommandRow& row : command_table()) {
    const std::string name = row.name;
    const bool is_inner = name.find(' ') != std::string::npos;
    EXPECT_EQ(offers({""}, name), !is_inner) << name;
  }
  EXPECT_TRUE(offers({""}, "seed=~"));
  EXPECT_TRUE(offers({""}, "training.~"));
  EXPECT_FALSE(offers({""}, "--config"));
  EXPECT_EQ(complete_words({""}).candidates.front().help, "Train a model (the default)");
}

TEST(CompleteTest, OffersTheCommandsOfAGroup) {
  EXPECT_EQ(candidates({"selftest", ""}), Words{"resume"});
  EXPECT_EQ(candidates({"-q", "--seed", "runs", "selftest", ""}), Words{"resume"});
  EXPECT_EQ(candidates({"config", "print", "", ""}), candidates({"config", "check", ""}));
}

TEST(CompleteTest, OffersKeysSectionBySection) {
  const Words schedule = candidates({"training.schedule.na"});
  EXPECT_EQ(schedule.front(), "training.schedule.name=~");
  EXPECT_TRUE(offers({"training.x"}, "training.schedule.~"));
  EXPECT_TRUE(offers({"--set", "training.x"}, "training.epochs=~"));
  EXPECT_EQ(candidates({"no_section.x"}), Words{});
}

TEST(CompleteTest, OffersKeysToDescribe) {
  EXPECT_TRUE(offers({"config", "reference", ""}, "training.schedule.name"));
}

TEST(CompleteTest, OffersKeysOnlyToCommandsThatTakeThem) {
  EXPECT_EQ(candidates({"predict", "runs/latest", ""}), (Words{"precision=~", "threads=~"}));
  EXPECT_TRUE(offers({"cv", ""}, "seed=~"));
  EXPECT_EQ(candidates({"export", "runs/latest", ""}), Words{});
  EXPECT_TRUE(offers({"cv", "-"}, "--lr"));
  EXPECT_TRUE(offers({"cv", "-"}, "--config"));
  EXPECT_EQ(candidates({"explain", "runs/latest", ""}),
            (Words{"seed=~", "precision=~", "threads=~"}));
  EXPECT_FALSE(offers({"explain", "-"}, "--config"));
  EXPECT_FALSE(offers({"predict", "-"}, "--lr"));
  EXPECT_FALSE(offers({"predict", "-"}, "--config"));
}

TEST(CompleteTest, OffersTheFlagsOfTheCommand) {
  EXPECT_TRUE(offers({"predict", "-"}, "--keep"));
  EXPECT_TRUE(offers({"predict", "-"}, "--quiet"));
  EXPECT_TRUE(offers({"predict", "-"}, "--help"));
  EXPECT_FALSE(offers({"predict", "-"}, "--json"));
  EXPECT_TRUE(offers({"-"}, "--json"));
  EXPECT_TRUE(offers({"train", "-"}, "--json"));
  EXPECT_FALSE(offers({"-"}, "--keep"));
  EXPECT_FALSE(offers({"--lr", "1", "-"}, "--lr"));
  EXPECT_TRUE(offers({"-c", "a.yaml", "-"}, "--config"));
}

TEST(CompleteTest, OffersTheWordsOfAValue) {
  EXPECT_EQ(candidates({"training.optimizer.name="}),
            (Words{"training.optimizer.name=sgd", "training.optimizer.name=adam",
                   "training.optimizer.name=adamw", "training.optimizer.name=rmsprop"}));
  EXPECT_EQ(candidates({"--precision", ""}), candidates({"-q", "--precision", "x"}));
  EXPECT_TRUE(offers({"--precision="}, "--precision=bf16"));
  EXPECT_EQ(candidates({"device_fallback=f"}),
            (Words{"device_fallback=true", "device_fallback=false"}));
  EXPECT_EQ(candidates({"threads="}), Words{"threads=auto"});
  EXPECT_EQ(candidates({"--device", ""}), (Words{"auto", "fastest", "cpu", "mps", "cuda"}));
  EXPECT_EQ(candidates({"--lr", ""}), Words{});
  EXPECT_EQ(candidates({"--lr="}), Words{});
  EXPECT_EQ(candidates({"no.key="}), Words{});
  EXPECT_EQ(candidates({"predict", "--on-error", ""}), (Words{"stop", "skip"}));
  EXPECT_TRUE(offers({"eval", "--threshold", ""}, "auto:f1"));
  EXPECT_EQ(candidates({"ensemble", "--recipes", "realmlp,t"}),
            (Words{"realmlp,plain", "realmlp,realmlp", "realmlp,tabm", "realmlp,linear"}));
  EXPECT_EQ(candidates({"completion", ""}), (Words{"bash", "zsh", "fish"}));
}

TEST(CompleteTest, SaysWhereFilesMayStand) {
  EXPECT_EQ(complete_words({"--config", ""}).paths, Paths::kFiles);
  EXPECT_EQ(complete_words({"-q", "-c", ""}).paths, Paths::kFiles);
  EXPECT_EQ(complete_words({"runs", "list", ""}).paths, Paths::kFolders);
  const Completion completion = complete_words({"data.cache=~/c"});
  EXPECT_EQ(completion.paths, Paths::kFiles);
  EXPECT_EQ(completion.before, "data.cache=");
  EXPECT_EQ(candidates({"data.cache=~/c"}), (Words{"data.cache=auto", "data.cache=off"}));
  EXPECT_EQ(complete_words({"-cfile", ""}).paths, Paths::kNone);
  EXPECT_EQ(complete_words({"predict", "--query", ""}).paths, Paths::kNone);
}

TEST(CompleteTest, OffersTheColumnsOfTheTable) {
  const test::TemporaryFolder folder;
  const std::string table = folder.write("a table.csv", "plain;my col;\"b, c\";#d\n").string();
  const std::string config = folder.write("c.yaml", "data:\n  path: a table.csv\n").string();
  const Words of_list = {"data.target=plain", "data.target=my col", "data.target=\"b, c\"",
                         "data.target=\"#d\""};
  EXPECT_EQ(candidates({"--config", config, "data.target="}), of_list);
  EXPECT_EQ(candidates({"data.path=" + table, "data.target="}), of_list);
  EXPECT_EQ(candidates({"--config", config, "data.ignore=[plain, m"}),
            (Words{"data.ignore=[plain, plain~", "data.ignore=[plain, my col~",
                   "data.ignore=[plain, \"b, c\"~", "data.ignore=[plain, \"#d\"~"}));
  const Words names = {"plain", "my col", "b, c", "#d"};
  EXPECT_EQ(candidates({"init", "--data", table, "--target", ""}), names);
  EXPECT_EQ(candidates({"predict", "run", "--data=" + table, "--keep", ""}), names);
  EXPECT_TRUE(offers({"-c", config, "data.weight="}, "data.weight=b, c"));
  folder.write("run/config_resolved.yaml", "data: {path: ../a table.csv, delimiter: semicolon}\n");
  const std::string run = (folder.path() / "run").string();
  EXPECT_EQ(candidates({"predict", run, "--keep", ""}), names);
  EXPECT_EQ(candidates({"explain", run + "/checkpoints/best.pt", "--column", ""}), names);
  EXPECT_EQ(candidates({"data.target="}), Words{});
  EXPECT_EQ(candidates({"--config", folder.path().string(), "data.target="}), Words{});
}

TEST(CompleteTest, ListsFiles) {
  const test::TemporaryFolder folder;
  folder.write("a b.csv", "");
  folder.write(".hidden", "");
  folder.write("last.pt", "");
  folder.write("folder/x", "");
  folder.write("run/config_resolved.yaml", "");
  const std::string root = folder.path().string() + "/";
  const auto list = [&](Paths paths, const std::string& typed) {
    std::string text;
    for (const Candidate& candidate : path_candidates(paths, root + typed)) {
      text += candidate.text.substr(root.size()) + (candidate.is_part ? "~ " : " ");
    }
    return text;
  };
  EXPECT_EQ(list(Paths::kFiles, ""), "a b.csv folder/~ last.pt run/~ ");
  EXPECT_EQ(list(Paths::kFiles, "."), ".hidden a b.csv folder/~ last.pt run/~ ");
  EXPECT_EQ(list(Paths::kFolders, "x"), "folder/~ run ");
  EXPECT_EQ(list(Paths::kCheckpoints, ""), "folder/~ last.pt run ");
  EXPECT_EQ(list(Paths::kFiles, "none/"), "");
  EXPECT_EQ(list(Paths::kNone, ""), "");
}

// So that completion knows what each value is.
TEST(CompleteTest, EachKindOfValueIsKnown) {
  const std::vector<std::string> known = {
      "",       "FILE",   "FOLDER",     "RUN",   "RUN ...",    "RUN_OR_CHECKPOINT",
      "COLUMN", "NAME",   "NAME,...",   "VALUE", "KEY=VALUE",  "RUN_OR_CHECKPOINT ...",
      "KEY",    "SELECT", "EXPRESSION", "TIME",  "TEXT",       "N",
      "ROWS",   "FORMAT", "METRIC",     "SHELL", "REMOVED ..."};
  for (const CommandRow& row : command_table()) {
    if (row.make == nullptr) continue;
    const auto command = row.make();
    for (const Option& option : command->options()) {
      EXPECT_NE(std::find(known.begin(), known.end(), option.value_name), known.end())
          << row.name << " " << option.names << " " << option.value_name;
      EXPECT_EQ(option.value_name.empty(), is_flag(option)) << option.names;
    }
  }
}

}  // namespace
}  // namespace trainer::cli
