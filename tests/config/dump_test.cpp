// SPDX-License-Identifier: Apache-2.0
#include "trainer/config/dump.h"

#include <gtest/gtest.h>

#include "trainer/config/fields.h"

namespace trainer::config {
namespace {

// A value of each kind that is not the default.
const char* const kUnusual =
    "seed: 7\ndevice: cuda:1\ndevice_fallback: false\nthreads: 3\noutput_dir: \"/out: put\"\n"
    "tag: a-b.c_d\n"
    "data:\n"
    "  source: csv\n  path: \"/x #y.csv\"\n  target: \"a \\\"b\\\"\"\n  task: classification\n"
    "  delimiter: tab\n  ignore: [x, \"y: z\", \"null\", \"\"]\n  validation_fraction: 0.15\n"
    "  scaling: minmax\n"
    "model:\n  hidden_sizes: [9, 9]\n  activation: tanh\n  norm: batch\n  residual: true\n"
    "training:\n  epochs: 3\n  learning_rate: 0.000123456789\n  step: autograd\n"
    "  optimizer: {name: sgd, nesterov: true}\n"
    "logging: {level: debug}\n";

TEST(DumpTest, TheDumpLoadsAsTheSameConfiguration) {
  const Loaded loaded = load({{"a.yaml", kUnusual, "/"}}, {});
  const Loaded again = load({{"dump.yaml", dump(loaded), "/"}}, {});
  for (const Field& field : fields()) {
    EXPECT_EQ(value_text(field, again.config), value_text(field, loaded.config)) << field.path;
  }
}

TEST(DumpTest, EachLineNamesTheOriginOfItsValue) {
  const Loaded loaded = load({{"a.yaml", "seed: 7\nmodel: {norm: layer}\n", "/"}},
                             {{"training.learning_rate", "2e-3", "--lr"}});
  const std::string text = dump(loaded);
  EXPECT_NE(text.find("seed: 7                                       # a.yaml:1\n"),
            std::string::npos);
  EXPECT_NE(text.find("  norm: layer                                 # a.yaml:2\n"),
            std::string::npos);
  EXPECT_NE(text.find("  learning_rate: 0.002                        # --lr\n"), std::string::npos);
  EXPECT_NE(text.find("device: auto                                  # default\n"),
            std::string::npos);
}

TEST(DumpTest, DifferencesLeaveOutWhatAResumedRunMayChange) {
  Config before;
  Config after;
  after.training.epochs = 99;
  after.device = "mps";
  after.training.learning_rate = 0.5;
  after.model.norm = Norm::kLayer;
  const std::vector<Difference> differences = fixed_differences(before, after);
  ASSERT_EQ(differences.size(), 2U);
  EXPECT_EQ(differences[0].key, "model.norm");
  EXPECT_EQ(differences[0].before, "none");
  EXPECT_EQ(differences[0].after, "layer");
  EXPECT_EQ(differences[1].key, "training.learning_rate");
  EXPECT_EQ(differences[1].after, "0.5");
}

}  // namespace
}  // namespace trainer::config
