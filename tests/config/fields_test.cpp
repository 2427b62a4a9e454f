// SPDX-License-Identifier: Apache-2.0
#include "trainer/config/fields.h"

#include <set>
#include <utility>

#include <gtest/gtest.h>

#include "trainer/config/config.h"
#include "trainer/config/load.h"

namespace trainer::config {
namespace {

struct Anything {
  template <typename T>
  operator T() const;  // NOLINT(google-explicit-constructor): it stands for any member
};

template <typename T, std::size_t... I>
constexpr bool takes(std::index_sequence<I...>) {
  return requires { T{(static_cast<void>(I), Anything{})...}; };
}

/// The number of members of an aggregate: the most initializers that it takes.
template <typename T, std::size_t N = 64>
constexpr std::size_t num_members() {
  if constexpr (takes<T>(std::make_index_sequence<N>())) {
    return N;
  } else {
    return num_members<T, N - 1>();
  }
}

TEST(FieldsTest, EveryMemberOfTheConfigurationHasAField) {
  constexpr std::size_t kSectionsInConfig = 7;  // with Config::pending, which is no key
  constexpr std::size_t kSectionsInData = 3;
  constexpr std::size_t kSectionsInTraining = 3;
  constexpr std::size_t kLeaves =
      num_members<Config>() - kSectionsInConfig + num_members<DataConfig>() - kSectionsInData +
      num_members<IdxConfig>() + num_members<NpyConfig>() + num_members<SyntheticConfig>() +
      num_members<ModelConfig>() + num_members<TrainingConfig>() - kSectionsInTraining +
      num_members<OptimizerConfig>() + num_members<ScheduleConfig>() +
      num_members<EarlyStoppingConfig>() + num_members<CheckpointConfig>() +
      num_members<LoggingConfig>() + num_members<DistributedConfig>();
  EXPECT_EQ(fields().size(), kLeaves);
}

TEST(FieldsTest, PathsAndFlagsAreUnique) {
  std::set<std::string> paths;
  std::set<std::string> flags;
  for (const Field& field : fields()) {
    EXPECT_TRUE(paths.insert(field.path).second) << field.path;
    if (!field.flag.empty()) {
      EXPECT_TRUE(flags.insert(field.flag).second) << field.flag;
    }
  }
}

TEST(FieldsTest, NoKeyOfThisProgramIsListedAsANameOfAnotherTool) {
  for (const Field& field : fields()) {
    for (const std::string& name : field.aliases) {
      EXPECT_EQ(find_field(name), nullptr) << name;
    }
  }
}

TEST(FieldsTest, EveryFieldHasAHelpThatEndsAsASentence) {
  for (const Field& field : fields()) {
    ASSERT_FALSE(field.help.empty()) << field.path;
    EXPECT_EQ(field.help.back(), '.') << field.path;
  }
}

TEST(FieldsTest, EveryDefaultIsAccepted) {
  for (const Field& field : fields()) {
    const std::string text = value_text(field, Config{});
    EXPECT_NO_THROW(load({}, {{field.path, text, "test"}})) << field.path << "=" << text;
  }
}

TEST(FieldsTest, ValuesAreShownByTheirPath) {
  EXPECT_EQ(value_text("model.activation", Config{}), "relu");
  EXPECT_EQ(value_text("training.batch_size", Config{}), "32");
}

TEST(FieldsTest, TheSourcesKeysExist) {
  for (const char* key :
       {"seed", "device", "precision", "training.epochs", "training.batch_size",
        "training.learning_rate", "model.hidden_size", "logging.level", "logging.save_interval"}) {
    EXPECT_NE(find_field(key), nullptr) << key;
  }
}

TEST(FieldsTest, ExpectedTextSaysTheBoundsInWords) {
  const auto expected = [](const char* key) { return expected_text(find_field(key)->access); };
  EXPECT_EQ(expected("training.learning_rate"), "a number > 0");
  EXPECT_EQ(expected("model.dropout"), "a number >= 0 and < 1");
  EXPECT_EQ(expected("threads"), "an integer >= 0 and <= 1024 or auto");
  EXPECT_EQ(expected("model.activation"), "relu, gelu, silu, tanh, selu or mish");
  EXPECT_EQ(expected("data.path"), "a path");
  EXPECT_EQ(expected("data.ignore"), "a string or a list of strings");
}

}  // namespace
}  // namespace trainer::config
