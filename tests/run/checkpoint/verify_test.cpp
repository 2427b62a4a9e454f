// SPDX-License-Identifier: Apache-2.0
#include "trainer/run/checkpoint/verify.h"

#include <cmath>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "trainer/base/error.h"
#include "trainer/config/config.h"  // IWYU pragma: keep

#include "support/checkpoints.h"
#include "support/error_of.h"
#include "support/temporary_folder.h"

namespace trainer::checkpoint {
namespace {

using test::float_data;
using test::sound_checkpoint;

class VerifyTest : public testing::Test {
 protected:
  // What verify() says of the sound checkpoint with a change, without the name of the file.
  template <class Change>
  std::string problems_after(Change change) {
    Checkpoint c = sound_checkpoint();
    change(c);
    write(path_, c);
    const std::string text = test::message_of(ErrorKind::kCheckpoint, [&] { verify(path_); });
    return test::replaced("\n" + text, "\n" + path_.string() + ": ", "|");
  }

  test::TemporaryFolder folder_;
  std::filesystem::path path_ = folder_.path() / "state.pt";
};

TEST_F(VerifyTest, ASoundCheckpointIsReturnedWithItsConfiguration) {
  write(path_, sound_checkpoint());
  const VerifiedCheckpoint verified = verify(path_);
  EXPECT_EQ(verified.checkpoint.state.position.step, 12);
  EXPECT_EQ(verified.config->model.norm, config::Norm::kBatch);
  EXPECT_EQ(verified.num_bytes, std::filesystem::file_size(path_));
  EXPECT_GT(verified.time_seconds, 0);
}

TEST_F(VerifyTest, AnOptimizerWithoutMomentsIsSound) {
  Checkpoint c = sound_checkpoint();
  c.moments.clear();
  write(path_, c);
  EXPECT_NO_THROW(verify(path_));
}

TEST_F(VerifyTest, WhatReadRefusesIsRefused) {
  folder_.write("state.pt", "half a file");
  const Error error = test::error_of([&] { verify(path_); });
  EXPECT_EQ(error.kind(), ErrorKind::kCheckpoint);
}

TEST_F(VerifyTest, NumbersThatAreNotFiniteAreNamed) {
  EXPECT_EQ(problems_after([](Checkpoint& c) {
              c.model[1].tensor = float_data({4}, {1, 2, std::nanf(""), 4});
              c.model[7].tensor = float_data({4}, {1, 2, 3, -HUGE_VALF});
              c.moments[1].tensors[5].tensor = float_data({2}, {HUGE_VALF, 0});
            }),
            "|model layers.0.bias: expected finite numbers, element 2 is nan"
            "|model norms.0.running_var: expected finite numbers, element 3 is -inf"
            "|optimizer moment exp_avg_sq layers.1.bias: expected finite numbers, element 0 is "
            "inf");
}

TEST_F(VerifyTest, AnotherElementTypeIsNamed) {
  EXPECT_EQ(problems_after([](Checkpoint& c) { c.model[1].tensor.dtype = archive::DType::kInt32; }),
            "|model layers.0.bias: expected float32, got int32");
}

TEST_F(VerifyTest, TheTensorsAreThoseOfTheNetwork) {
  EXPECT_EQ(problems_after([](Checkpoint& c) {
              c.schema.feature_names.pop_back();
              c.schema.columns.pop_back();
              c.schema.scaling = {{0, 0}, {1, 1}};
            }),
            "|model layers.0.weight: expected shape [4, 2], got [4, 3]");
  EXPECT_EQ(problems_after([](Checkpoint& c) { c.schema.labels.emplace_back("maybe"); }),
            "|schema.target_means: expected 3 numbers, got 2");
  EXPECT_EQ(problems_after([](Checkpoint& c) {
              c.schema.labels.emplace_back("maybe");
              c.schema.target_means.clear();
            }),
            "|model layers.1.weight: expected shape [3, 4], got [2, 4]"
            "|model layers.1.bias: expected shape [3], got [2]");
  EXPECT_EQ(problems_after([](Checkpoint& c) {
              c.moments.clear();
              c.model[4].tensor.shape = {4, 2};
            }),
            "|model layers.1.weight: expected shape [2, 4], got [4, 2]");
  EXPECT_EQ(problems_after([](Checkpoint& c) {
              c.moments.clear();
              c.model.erase(c.model.begin(), c.model.begin() + 6);
            }),
            "|model layers.0.weight: missing tensor|model layers.0.bias: missing tensor|model "
            "norms.0.weight: missing tensor|model norms.0.bias: missing tensor|model "
            "layers.1.weight: missing tensor|model layers.1.bias: missing tensor");
}

// The column "c" of the sound checkpoint becomes five learned numbers for each of two categories.
void embed_last_column(Checkpoint& c) {
  c.moments.clear();
  c.schema.columns[4] = {.name = "c",
                         .kind = data::ColumnKind::kCategorical,
                         .categories = {"p", "q"},
                         .embedding_size = 5};
  c.model[0].tensor = float_data({4, 7}, std::vector<float>(28, 0.5F));
  c.model.insert(c.model.begin(),
                 {"embeddings.0.weight", float_data({3, 5}, std::vector<float>(15, 0.5F))});
}

TEST_F(VerifyTest, EmbeddingsFitTheirColumnsAndTheFirstLayer) {
  Checkpoint sound = sound_checkpoint();
  embed_last_column(sound);
  write(path_, sound);
  EXPECT_EQ(network::widths(verify(path_).network), (std::vector<int64_t>{7, 4, 2}));
  EXPECT_EQ(problems_after([](Checkpoint& c) {
              embed_last_column(c);
              c.schema.columns[4].categories.emplace_back("r");
            }),
            "|model embeddings.0.weight: expected shape [4, 5], got [3, 5]");
  EXPECT_EQ(problems_after([](Checkpoint& c) {
              embed_last_column(c);
              c.schema.columns[4].embedding_size = 4;
            }),
            "|model embeddings.0.weight: expected shape [3, 4], got [3, 5]"
            "|model layers.0.weight: expected shape [4, 6], got [4, 7]");
  EXPECT_EQ(problems_after([](Checkpoint& c) {
              embed_last_column(c);
              c.model.erase(c.model.begin());
            }),
            "|model embeddings.0.weight: missing tensor");
  EXPECT_EQ(problems_after([](Checkpoint& c) {
              c.moments.clear();
              c.model.push_back({"embeddings.0.weight", float_data({1, 1}, {1})});
            }),
            "|model embeddings.0.weight: the network has no such tensor");
}

TEST_F(VerifyTest, MomentsHaveTheNamesAndShapesOfTheParameters) {
  EXPECT_EQ(problems_after([](Checkpoint& c) {
              c.moments[0].tensors[0].tensor.shape = {3, 4};
              c.moments[0].tensors[1].name = "layers.9.bias";
              c.moments[1].tensors.pop_back();
              c.moments[1].tensors.push_back(c.model[6]);
            }),
            "|optimizer moment exp_avg layers.0.weight: expected the shape of the parameter, [4, "
            "3], got [3, 4]|optimizer moment exp_avg layers.9.bias: the model has no parameter of "
            "this name|optimizer moment exp_avg layers.0.bias: missing tensor|optimizer moment "
            "exp_avg_sq norms.0.running_mean: the model has no parameter of this name|optimizer "
            "moment exp_avg_sq layers.1.bias: missing tensor");
}

TEST_F(VerifyTest, TheConfigurationLoadsAndFitsTheModel) {
  EXPECT_EQ(problems_after([](Checkpoint& c) { c.config = "model: 5\nsede: 1\n"; }),
            "|config:1: model: expected a mapping, got \"5\"|config:2: sede: unknown key; did you "
            "mean \"seed\"?");
  EXPECT_EQ(
      problems_after([](Checkpoint& c) { c.config = "model: {hidden_sizes: [8], norm: batch}"; }),
      "|model layers.0.weight: expected shape [8, 3], got [4, 3]"
      "|model layers.0.bias: expected shape [8], got [4]"
      "|model norms.0.weight: expected shape [8], got [4]"
      "|model norms.0.bias: expected shape [8], got [4]"
      "|model layers.1.weight: expected shape [2, 8], got [2, 4]"
      "|model norms.0.running_mean: expected shape [8], got [4]"
      "|model norms.0.running_var: expected shape [8], got [4]");
}

TEST_F(VerifyTest, TheStateOfADataFileIsTold) {
  const auto file = folder_.write("a.csv", "a,b\n");
  const data::Fingerprint saved = data::fingerprint(file);
  EXPECT_EQ(data_file_state(saved), "unchanged");
  folder_.write("a.csv", "a,bc\n");
  EXPECT_EQ(data_file_state(saved),
            "changed: 4 bytes with CRC-32 249710c5 before, 5 bytes with CRC-32 6dc27752 now");
  std::filesystem::remove(file);
  EXPECT_EQ(data_file_state(saved), "missing");
  std::filesystem::create_directory(file);
  EXPECT_EQ(data_file_state(saved), file.string() + ": is a folder, expected a file");
}

}  // namespace
}  // namespace trainer::checkpoint
