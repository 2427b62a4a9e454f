// SPDX-License-Identifier: Apache-2.0
#include "trainer/config/load.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "trainer/base/error.h"

#include "config/document.h"
#include "support/error_of.h"
#include "support/temporary_folder.h"
#include "support/unprivileged.h"
#include "support/variable.h"

namespace trainer::config {
namespace {

Config config_of(const std::string& text) { return load({document(text)}, {}).config; }

std::string message_of_override(const std::string& key, const std::string& value) {
  return test::message_of(ErrorKind::kUsage, [&] { load({}, {{key, value, "--set"}}); });
}

TEST(LoadTest, AnEmptyFileGivesTheDefaults) {
  const Config config = config_of("");
  EXPECT_EQ(config.seed, 42);
  EXPECT_EQ(config.training.batch_size, 32);
}

TEST(LoadTest, ReadsEveryKindOfValue) {
  const Config config = config_of(
      "seed: 7\n"
      "device_fallback: false\n"
      "tag: run.1\n"
      "data: {path: x.csv, source: csv, target: y, ignore: [a, 'b c', no]}\n"
      "model:\n  hidden_sizes: [8, 4]\n  activation: gelu\n"
      "training: {learning_rate: 1e-5}\n");
  EXPECT_EQ(config.seed, 7);
  EXPECT_FALSE(config.device_fallback);
  EXPECT_EQ(config.tag, "run.1");
  EXPECT_EQ(config.data.path, "/folder/x.csv");
  EXPECT_EQ(config.data.ignore, (std::vector<std::string>{"a", "b c", "no"}));
  EXPECT_EQ(config.model.hidden_sizes, (std::vector<int64_t>{8, 4}));
  EXPECT_EQ(config.model.activation, Activation::kGelu);
  EXPECT_DOUBLE_EQ(config.training.learning_rate, 1e-5);
}

TEST(LoadTest, LaterFilesAndThenTheCommandLineWin) {
  const Loaded loaded = load({{"a.yaml", "seed: 1\ntraining: {epochs: 2, batch_size: 8}", "/"},
                              {"b.yaml", "training:\n  epochs: 3", "/"}},
                             {{"training.batch_size", "16", "--batch-size"}});
  EXPECT_EQ(loaded.config.seed, 1);
  EXPECT_EQ(loaded.config.training.epochs, 3);
  EXPECT_EQ(loaded.config.training.batch_size, 16);
  EXPECT_EQ(origin_of(loaded, "seed"), "a.yaml:1");
  EXPECT_EQ(origin_of(loaded, "training.epochs"), "b.yaml:2");
  EXPECT_EQ(origin_of(loaded, "training.batch_size"), "--batch-size");
  EXPECT_EQ(origin_of(loaded, "device"), "default");
}

TEST(LoadTest, NullSetsAKeyBackToItsDefault) {
  const Loaded loaded =
      load({document("training: {epochs: 5}")}, {{"training.epochs", "null", "--set"}});
  EXPECT_EQ(loaded.config.training.epochs, 10);
  EXPECT_EQ(origin_of(loaded, "training.epochs"), "default");
}

TEST(LoadTest, OverridesAreYamlForNumbersAndListsButPlainForTexts) {
  const Config config = load({}, {{"model.hidden_sizes", "[256, 128]", "--set"},
                                  {"data.source", "csv", "--set"},
                                  {"data.path", "/a/b: c.csv", "--set"},
                                  {"data.target", "yes", "--set"}})
                            .config;
  EXPECT_EQ(config.model.hidden_sizes, (std::vector<int64_t>{256, 128}));
  EXPECT_EQ(config.data.path, "/a/b: c.csv");
  EXPECT_EQ(config.data.target, std::vector<std::string>{"yes"});
}

TEST(LoadTest, APathOnTheCommandLineStartsAtTheWorkingDirectory) {
  const Config config = load({}, {{"output_dir", "out", "--output-dir"}}).config;
  EXPECT_EQ(config.output_dir, (std::filesystem::current_path() / "out").string());
}

TEST(LoadTest, ReportsAllErrorsAtOnceWithTheirLines) {
  EXPECT_EQ(message_of("seed: -1\n"
                       "training:\n"
                       "  learning_rate: \"fast\"\n"
                       "  epochs: 1.5\n"
                       "data: {source: cvs}\n"
                       "device: gpu\n"),
            "a.yaml:1: seed: expected an integer >= 0, got \"-1\"\n"
            "a.yaml:3: training.learning_rate: expected a number > 0, got \"fast\"\n"
            "a.yaml:4: training.epochs: expected an integer >= 1 and <= 1000000000, got \"1.5\"\n"
            "a.yaml:5: data.source: expected synthetic, csv, idx, npy or query, got \"cvs\"; did "
            "you mean "
            "\"csv\"?\n"
            "a.yaml:6: device: expected auto, fastest, cpu, mps, cuda or cuda:N, got \"gpu\"");
}

TEST(LoadTest, AnUnknownKeyHasTheNearestOneAsSuggestion) {
  EXPECT_EQ(message_of("training:\n  epoch: 3\n"),
            "a.yaml:2: training.epoch: unknown key; did you mean \"training.epochs\"?");
  EXPECT_EQ(message_of("trainig: {epochs: 3}\n"),
            "a.yaml:1: trainig: unknown key; did you mean \"training\"?");
  EXPECT_EQ(message_of("epochs: 3\n"),
            "a.yaml:1: epochs: unknown key; did you mean \"training.epochs\"?");
  EXPECT_EQ(message_of("zebra: 3\n"),
            "a.yaml:1: zebra: unknown key; trainer config reference lists all keys");
}

TEST(LoadTest, ARemovedKeyIsIgnoredWhereItHasItsDefault) {
  EXPECT_NO_THROW(config_of("logging:\n  dvclive: \"\"\n"));
  EXPECT_EQ(message_of("logging:\n  dvclive: live\n"),
            "a.yaml:2: logging.dvclive: this key was removed; logging.tensorboard writes the same "
            "curves");
  EXPECT_EQ(message_of_override("logging.dvclive", "live"),
            "--set: logging.dvclive: this key was removed; logging.tensorboard writes the same "
            "curves");
}

TEST(LoadTest, ANameOfAnotherToolIsNamedAsItIsCalledHere) {
  EXPECT_EQ(message_of("lr: 3\n"), "a.yaml:1: lr: unknown key; use \"training.learning_rate\"");
  EXPECT_EQ(message_of("training: {max_epochs: 3}\n"),
            "a.yaml:1: training.max_epochs: unknown key; use \"training.epochs\"");
  EXPECT_EQ(message_of_override("gradient_clip_val", "1"),
            "--set: gradient_clip_val: unknown key; use \"training.gradient_clip_norm\"");
}

TEST(LoadTest, ADuplicateKeyIsAnError) {
  EXPECT_EQ(message_of("seed: 1\nseed: 2\n"), "a.yaml:2: seed: duplicate key; remove one");
}

TEST(LoadTest, AYamlSyntaxErrorNamesItsLineInPlainWords) {
  EXPECT_EQ(message_of("seed: 1\ndata: [1,\n"), "a.yaml:3: YAML: unclosed [");
  EXPECT_EQ(message_of("data: {a: 1\n"), "a.yaml:2: YAML: unclosed {");
  EXPECT_EQ(message_of("seed: ]\n"), "a.yaml:1: YAML: unmatched ] or }");
  EXPECT_EQ(message_of("training:\n\tepochs: 1\n"),
            "a.yaml:2: YAML: a tab in the indentation; indent with spaces");
  EXPECT_EQ(message_of("training:\n  epochs: 1\n batch_size: 2\n"),
            "a.yaml:3: YAML: the indentation of this line does not match the lines above; keys of "
            "one section must be aligned");
  EXPECT_EQ(message_of("tag: a: b\n"),
            "a.yaml:1: YAML: unexpected colon; indent the line like those above, or put the value "
            "in quotes");
  EXPECT_EQ(message_of("seed: 1\ntag: @b\n"),
            "a.yaml:2: YAML: a value cannot start with \"@\"; put it in quotes");
  EXPECT_EQ(message_of("training: *no\n"),
            "a.yaml:1: YAML: undefined anchor: no & above defines the name after *");
  EXPECT_EQ(message_of("tag: \"C:\\data\"\n"),
            "a.yaml:1: YAML: unknown escape sequence in double quotes; write the backslash twice, "
            "or use single quotes");
}

TEST(LoadTest, ASecondDocumentIsAnError) {
  const std::string problem =
      ": YAML: a second document starts here, but only one is supported; move it to a separate "
      "file (--config accepts several) or remove this line";
  EXPECT_EQ(message_of("seed: 1\n---\ntraining: {epochs: 3}\n"), "a.yaml:2" + problem);
  EXPECT_EQ(message_of("# a\n---\nseed: 1\n...\nseed: 2\n"), "a.yaml:4" + problem);
  EXPECT_EQ(load({document("---\nseed: 7\n---\n")}, {}).config.seed, 7);
  EXPECT_EQ(load({document("---\nseed: 7\n...\n")}, {}).config.seed, 7);
}

// YAML::LoadAll() makes documents without end of these.
TEST(LoadTest, ACommaBehindATextEndsTheReading) {
  for (const char* text : {"\"a\",", "'a',", "\"a\",\"b\":1", "\"a\",\n---\nb: 1\n"}) {
    EXPECT_EQ(message_of(text).substr(0, 7), "a.yaml:") << text;
  }
}

TEST(LoadTest, OfManyProblemsTheFirstAreShown) {
  std::string text;
  for (int i = 0; i < 50'000; ++i) text += fmt::format("key_{}: 1\n", i);
  const std::string message = message_of(text);
  EXPECT_EQ(std::count(message.begin(), message.end(), '\n'), 20);
  EXPECT_TRUE(message.starts_with("a.yaml:1: key_0: unknown key")) << message;
  EXPECT_TRUE(message.ends_with("\nand 49980 more")) << message;
}

TEST(LoadTest, MergeKeysFillInWhatASectionLacks) {
  const Loaded loaded = load({document("x-common: &common\n  epochs: 3\n  batch_size: 8\n"
                                       "x-more: &more {batch_size: 9, learning_rate: 0.5}\n"
                                       "training:\n  <<: [*common, *more]\n  epochs: 4\n")},
                             {});
  EXPECT_EQ(loaded.config.training.epochs, 4);
  EXPECT_EQ(loaded.config.training.batch_size, 8);
  EXPECT_EQ(loaded.config.training.learning_rate, 0.5);
  EXPECT_EQ(origin_of(loaded, "training.batch_size"), "a.yaml:3");
  EXPECT_EQ(message_of("training:\n  <<: 5\n"),
            "a.yaml:2: YAML: <<: expected a mapping to merge, such as *name");
  EXPECT_EQ(message_of("x-a: &a {xylophone: 1}\ntraining:\n  <<: *a\n"),
            "a.yaml:1: training.xylophone: unknown key; trainer config reference lists all keys");
}

TEST(LoadTest, MappingsThatMergeEachOtherManyTimesAreReadOnce) {
  std::string text = "x-0: &m0 {epochs: 3}\n";
  for (int i = 1; i <= 90; ++i) {
    text += fmt::format("x-{0}: &m{0} {{<<: [*m{1}, *m{1}, *m{1}]}}\n", i, i - 1);
  }
  EXPECT_EQ(load({document(text + "training:\n  <<: *m90\n")}, {}).config.training.epochs, 3);
  for (int i = 91; i <= 120; ++i) {
    text += fmt::format("x-{0}: &m{0} {{<<: *m{1}}}\n", i, i - 1);
  }
  EXPECT_EQ(message_of(text + "training:\n  <<: *m120\n"),
            "a.yaml:22: YAML: <<: expected at most 100 nested merge keys");
}

TEST(LoadTest, WhatIsNoUtf8IsRefused) {
  EXPECT_EQ(message_of("seed: 1\ntag: caf\xe9\n"),
            "a.yaml:2: expected UTF-8 text, got the byte 0xe9; save the file as UTF-8");
  EXPECT_EQ(message_of_override("output_dir", "/tmp/caf\xe9"),
            "output_dir: expected a UTF-8 path, got \"/tmp/caf\\xe9\"; rename the file or folder, "
            "or change to another working directory");
}

TEST(LoadTest, AFlagThatIsItsKeyIsNamedOnce) {
  const Error error = test::error_of([&] { load({}, {{"precision", "fp8", "--precision"}}); });
  EXPECT_STREQ(error.what(), "--precision: expected fp32, fp16 or bf16, got \"fp8\"");
}

TEST(LoadTest, AnEmptyValueOnTheCommandLineIsNoDefault) {
  EXPECT_EQ(message_of_override("training.epochs", ""),
            "--set: training.epochs: expected an integer >= 1 and <= 1000000000, got nothing; null "
            "restores the default");
  EXPECT_EQ(load({document("tag: a")}, {{"tag", "", "--set"}}).config.tag, "");
}

TEST(LoadTest, AListOfNumbersNeedsNoBrackets) {
  const auto sizes = [](const std::string& value) {
    return load({}, {{"model.hidden_sizes", value, "--set"}}).config.model.hidden_sizes;
  };
  EXPECT_EQ(sizes("8"), std::vector<int64_t>{8});
  EXPECT_EQ(sizes("4,4"), (std::vector<int64_t>{4, 4}));
  EXPECT_EQ(sizes("64, 32"), (std::vector<int64_t>{64, 32}));
  EXPECT_EQ(sizes("[64,32]"), (std::vector<int64_t>{64, 32}));
  EXPECT_EQ(message_of_override("model.hidden_sizes", "4x4"),
            "--set: model.hidden_sizes: element 1: expected an integer >= 1 and <= 1048576, got "
            "\"4x4\"");
}

TEST(LoadTest, ATildeIsTheHomeFolder) {
  const test::Variable home("HOME", "/home/ada");
  const auto output_dir = [](const std::string& path) {
    return load({}, {{"output_dir", path, "--set"}}).config.output_dir;
  };
  EXPECT_EQ(output_dir("~/runs"), "/home/ada/runs");
  EXPECT_EQ(output_dir("a~"), (std::filesystem::current_path() / "a~").string());
}

TEST(LoadTest, NullInAListOfTextsIsToBeQuoted) {
  EXPECT_EQ(
      message_of("data: {missing: [NA, null]}\n"),
      "a.yaml:1: data.missing: element 2: expected a string, got null; put it in quotes: \"null\"");
}

TEST(LoadTest, ADecimalCommaNeedsAnotherDelimiter) {
  const std::string csv = "data: {source: csv, path: a.csv, target: y, decimal: \",\"";
  for (const char* delimiter : {"comma", "\",\""}) {
    EXPECT_EQ(message_of(csv + ", delimiter: " + delimiter + "}\n"),
              "a.yaml:1: data.decimal: conflicts with data.delimiter, which is also a comma; "
              "change one of them");
  }
  EXPECT_EQ(load({document(csv + "}\n")}, {}).config.data.decimal, ",");
}

TEST(LoadTest, AFileThatIsNoMappingIsAnError) {
  EXPECT_EQ(message_of("- 1\n- 2\n"), "a.yaml:1: expected a mapping of keys to values, got a list");
  EXPECT_EQ(message_of("hello"), "a.yaml:1: expected a mapping of keys to values, got \"hello\"");
}

TEST(LoadTest, ASectionIsNoValueAndAValueNoSection) {
  EXPECT_EQ(message_of("model: 5\n"), "a.yaml:1: model: expected a mapping, got \"5\"");
  EXPECT_EQ(message_of("seed: {a: 1}\n"),
            "a.yaml:1: seed: expected an integer >= 0, got a mapping");
  EXPECT_EQ(message_of("seed: [1, 2]\n"),
            "a.yaml:1: seed: expected an integer >= 0, got a list of 2 values");
  EXPECT_EQ(message_of_override("model", "5"),
            "--set: model is a section, not a key; set one of its keys, such as \"model.name\"");
}

TEST(LoadTest, AQuotedNumberIsAText) {
  EXPECT_EQ(message_of("seed: \"5\"\n"), "a.yaml:1: seed: expected an integer >= 0, got \"5\"");
}

TEST(LoadTest, YesIsNoBoolean) {
  EXPECT_EQ(message_of("device_fallback: yes\n"),
            "a.yaml:1: device_fallback: expected true or false, got \"yes\"");
}

TEST(LoadTest, ABadListElementIsNamed) {
  EXPECT_EQ(message_of("model: {hidden_sizes: [8, zero]}\n"),
            "a.yaml:1: model.hidden_sizes: element 2: expected an integer >= 1 and <= 1048576, got "
            "\"zero\"");
  EXPECT_EQ(message_of("data: {ignore: [a, [b]]}\n"),
            "a.yaml:1: data.ignore: element 2: expected a string, got a list of 1 value");
}

TEST(LoadTest, NotANumberAndInfinityAreOutOfBounds) {
  EXPECT_EQ(message_of("training: {learning_rate: .nan}\n"),
            "a.yaml:1: training.learning_rate: expected a number > 0, got \".nan\"");
  EXPECT_EQ(message_of_override("training.learning_rate", "inf"),
            "--set: training.learning_rate: expected a number > 0, got \"inf\"");
}

TEST(LoadTest, AMissingFileIsAnError) {
  const Error error = test::error_of([] { read_document("no/such.yaml"); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_STREQ(error.what(),
               "no/such.yaml: cannot read the configuration: No such file or directory");
}

TEST(LoadTest, AnUnreadableFileIsAnError) {
  const test::Unprivileged user;
  const test::TemporaryFolder folder;
  const auto path = folder.write("secret.yaml", "seed: 1\n");
  std::filesystem::permissions(path, std::filesystem::perms::none);
  const Error error = test::error_of([&] { read_document(path); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_EQ(error.what(), path.string() + ": cannot read the configuration: Permission denied");
}

TEST(LoadTest, AFolderInPlaceOfAFileIsAnError) {
  const test::TemporaryFolder folder;
  const Error error = test::error_of([&] { read_document(folder.path()); });
  EXPECT_EQ(error.what(), folder.path().string() +
                              ": expected a YAML file, got a folder; give the path of the file");
}

}  // namespace
}  // namespace trainer::config
