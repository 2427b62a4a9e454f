// SPDX-License-Identifier: Apache-2.0
#include "trainer/apply/model.h"

#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "trainer/base/error.h"

#include "support/checkpoints.h"
#include "support/error_of.h"
#include "support/temporary_folder.h"

namespace trainer::apply {
namespace {

namespace fs = std::filesystem;
using test::float_data;

class ModelTest : public testing::Test {
 protected:
  ModelTest() { fs::create_directory(folder_.path() / "checkpoints"); }

  fs::path file(const std::string& name) const { return folder_.path() / "checkpoints" / name; }

  // What load_model() says of the sound checkpoint with a change, without the name of the file.
  template <class Change>
  std::string problems_after(Change change) {
    checkpoint::Checkpoint c = test::sound_checkpoint();
    change(c);
    checkpoint::write(file("last.pt"), c);
    return test::replaced(
        test::message_of(ErrorKind::kCheckpoint, [&] { load_model(file("last.pt")); }),
        file("last.pt").string() + ": ", "|");
  }

  test::TemporaryFolder folder_;
};

TEST_F(ModelTest, HasTheWeightsInTheOrderOfTheLayers) {
  checkpoint::write(file("last.pt"), test::sound_checkpoint());
  const Model model = load_model(file("last.pt"));
  EXPECT_EQ(network::summary(model.members.front().network), "3-4-2 batch norm, relu");
  EXPECT_EQ(model.loss, config::Loss::kCrossEntropy);
  EXPECT_EQ(model.schema.labels, (std::vector<std::string>{"no", "yes"}));
  EXPECT_EQ(model.members.front().position.step, 12);
  EXPECT_EQ(model.members.front().best->epoch, 2);
  EXPECT_EQ(model.fingerprints.size(), 2);
  EXPECT_FALSE(model.members.front().is_averaged);
  std::vector<std::string> names;
  for (const checkpoint::NamedTensor& weight : model.members.front().weights)
    names.push_back(weight.name);
  EXPECT_EQ(names, (std::vector<std::string>{"layers.0.weight", "layers.0.bias", "norms.0.weight",
                                             "norms.0.bias", "layers.1.weight", "layers.1.bias",
                                             "norms.0.running_mean", "norms.0.running_var"}));
  EXPECT_EQ(float_values(find_weight(model.members.front(), "layers.0.bias"))[3], 4);
}

TEST_F(ModelTest, OfARunFolderItIsTheBestEpoch) {
  checkpoint::Checkpoint c = test::sound_checkpoint();
  checkpoint::write(file("last.pt"), c);
  EXPECT_EQ(load_model(folder_.path()).file, file("last.pt"));
  c.state.position.step = 8;
  checkpoint::write(file("best.pt"), c);
  EXPECT_EQ(load_model(folder_.path()).members.front().position.step, 8);
  EXPECT_EQ(load_model(folder_.path() / "checkpoints").file, file("best.pt"));
  EXPECT_EQ(load_model(folder_.path() / "last.pt").members.front().position.step, 12);
}

TEST_F(ModelTest, TakesTheAveragedParametersAndTheBuffersOfTheModel) {
  checkpoint::Checkpoint c = test::sound_checkpoint();
  std::vector<checkpoint::NamedTensor> averages = c.moments.front().tensors;
  averages[1].tensor = float_data({4}, {10, 20, 30, 40});
  c.moments.push_back({"ema", averages});
  checkpoint::write(file("last.pt"), c);
  const Model model = load_model(file("last.pt"));
  EXPECT_TRUE(model.members.front().is_averaged);
  EXPECT_EQ(float_values(find_weight(model.members.front(), "layers.0.bias"))[3], 40);
  EXPECT_EQ(float_values(find_weight(model.members.front(), "norms.0.running_mean"))[3], 4);
}

TEST_F(ModelTest, AFolderWithoutCheckpointsIsAnError) {
  const Error error = test::error_of([&] { load_model(folder_.path()); });
  EXPECT_EQ(error.kind(), ErrorKind::kCheckpoint);
  EXPECT_EQ(error.what(), folder_.path().string() +
                              ": no such checkpoint; there are no checkpoints in " +
                              (folder_.path() / "checkpoints").string());
}

TEST_F(ModelTest, TensorsThatAreMissingOrOfAnotherShapeAreNamed) {
  EXPECT_EQ(problems_after([](checkpoint::Checkpoint& c) {
              c.model.pop_back();
              c.model[2].tensor = float_data({3}, {1, 1, 1});
              c.moments.clear();
            }),
            "|model norms.0.weight: expected shape [4], got [3]\n"
            "|model norms.0.running_var: missing tensor");
}

}  // namespace
}  // namespace trainer::apply
