// SPDX-License-Identifier: Apache-2.0
#include "trainer/config/load.h"

#include <gtest/gtest.h>

#include "trainer/core/error.h"

#include "support/error_of.h"
#include "support/temporary_folder.h"
#include "support/unprivileged.h"

namespace trainer::config {
namespace {

Document document(const std::string& text) { return {"a.yaml", text, "/folder"}; }

Config load_text(const std::string& text) { return load({document(text)}, {}).config; }

std::string message_of(const std::string& text) {
  const Error error = test::error_of([&] { load({document(text)}, {}); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  return error.what();
}

std::string message_of_override(const std::string& key, const std::string& value) {
  const Error error = test::error_of([&] { load({}, {{key, value, "--set"}}); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  return error.what();
}

TEST(LoadTest, AnEmptyFileGivesTheDefaults) {
  const Config config = load_text("");
  EXPECT_EQ(config.seed, 42);
  EXPECT_EQ(config.training.batch_size, 32);
}

TEST(LoadTest, ReadsEveryKindOfValue) {
  const Config config = load_text(
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
            "a.yaml:5: data.source: expected synthetic, csv, idx or npy, got \"cvs\"; did you mean "
            "\"csv\"?\n"
            "a.yaml:6: device: expected auto, cpu, mps, cuda or cuda:N, got \"gpu\"");
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

TEST(LoadTest, ANameOfAnotherToolIsNamedAsItIsCalledHere) {
  EXPECT_EQ(message_of("lr: 3\n"),
            "a.yaml:1: lr: unknown key; it is called \"training.learning_rate\" here");
  EXPECT_EQ(message_of("training: {max_epochs: 3}\n"),
            "a.yaml:1: training.max_epochs: unknown key; it is called \"training.epochs\" here");
  EXPECT_EQ(message_of_override("gradient_clip_val", "1"),
            "--set: gradient_clip_val: unknown key; it is called \"training.gradient_clip_norm\" "
            "here");
}

TEST(LoadTest, ADuplicateKeyIsAnError) {
  EXPECT_EQ(message_of("seed: 1\nseed: 2\n"), "a.yaml:2: seed: this key stands twice; remove one");
}

TEST(LoadTest, AYamlSyntaxErrorNamesItsLine) {
  EXPECT_EQ(message_of("seed: 1\ndata: [1,\n"),
            "a.yaml:3: YAML syntax: end of sequence flow not found");
}

TEST(LoadTest, AFileThatIsNoMappingIsAnError) {
  EXPECT_EQ(message_of("- 1\n- 2\n"), "a.yaml:1: expected a mapping of keys to values, got a list");
  EXPECT_EQ(message_of("hello"), "a.yaml:1: expected a mapping of keys to values, got \"hello\"");
}

TEST(LoadTest, ASectionIsNoValueAndAValueNoSection) {
  EXPECT_EQ(message_of("model: 5\n"), "a.yaml:1: model: expected a section of keys, got \"5\"");
  EXPECT_EQ(message_of("seed: {a: 1}\n"),
            "a.yaml:1: seed: expected an integer >= 0, got a mapping");
  EXPECT_EQ(message_of("seed: [1, 2]\n"),
            "a.yaml:1: seed: expected an integer >= 0, got a list of 2 values");
  EXPECT_EQ(message_of_override("model", "5"),
            "--set: model: this is a section; name one of its keys, such as "
            "\"model.hidden_size\"");
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
            "a.yaml:1: data.ignore: element 2: expected a text, got a list of 1 value");
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
  EXPECT_EQ(error.what(),
            folder.path().string() + ": expected a YAML file, got a folder; name the file in it");
}

}  // namespace
}  // namespace trainer::config
