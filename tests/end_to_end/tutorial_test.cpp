// SPDX-License-Identifier: Apache-2.0
// The commands of docs/tutorial.md, as they stand there.
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/files.h"
#include "support/process.h"
#include "support/temporary_folder.h"
#include "support/trainer_program.h"

namespace trainer {
namespace {

namespace fs = std::filesystem;
using test::kSource;

/// The blocks of a Markdown text that are in a language, in their order.
std::vector<std::string> blocks(const std::string& text, const std::string& language) {
  std::vector<std::string> found;
  bool inside = false;
  for (const std::string& line : test::lines_of(text)) {
    if (line == "```" + language) {
      inside = true;
      found.emplace_back();
    } else if (line.starts_with("```")) {
      inside = false;
    } else if (inside) {
      found.back() += line + "\n";
    }
  }
  return found;
}

class TutorialTest : public ::testing::Test {
 protected:
  TutorialTest() { fs::create_symlink(kSource / "configs", folder_.path() / "configs"); }

  /// Runs the commands in one shell that ends with the first that fails.
  test::ProcessResult run(const std::string& commands) {
    const fs::path script = folder_.write("commands.sh", commands);
    return test::run_process(
        fmt::format("cd {} && PATH={}:$PATH NODE_PATH=${{NODE_PATH:-{}}} bash -e {}",
                    folder_.path().string(), fs::path(test::kTrainer).parent_path().string(),
                    (kSource / "build/node/node_modules").string(), script.string()));
  }

  const std::string text_ = test::read_file(kSource / "docs" / "tutorial.md");
  const std::vector<std::string> commands_ = blocks(text_, "sh");
  test::TemporaryFolder folder_;
};

TEST_F(TutorialTest, EveryCommandRuns) {
  std::string all;
  ASSERT_GT(commands_.size(), 5U);
  for (std::size_t i = 0; i + 1 < commands_.size(); ++i) all += commands_[i];
  const test::ProcessResult result = run(all);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const fs::path folder = folder_.path() / "penguins";
  for (const char* file : {"penguins.yaml", "predictions.csv", "first.csv", "penguins.onnx",
                           "runs/latest/summary.json"}) {
    EXPECT_TRUE(fs::exists(folder / file)) << file << "\n" << result.err;
  }
  const std::string predictions = test::read_file(folder / "predictions.csv");
  EXPECT_TRUE(predictions.starts_with(test::read_file(folder / "first.csv")));

  if (run("node -e \"require('onnxruntime-node')\" && curl --version").exit_code != 0) {
    GTEST_SKIP() << "needs node with onnxruntime-node (scripts/setup.sh test), and curl";
  }
  folder_.write("penguins/serve.js", blocks(text_, "js").front());
  const test::ProcessResult served = run("cd penguins\n" + commands_.back());
  EXPECT_EQ(served.exit_code, 0) << served.err;
  EXPECT_TRUE(served.out.starts_with(R"({"species":"Chinstrap","probability":0.9)")) << served.out;
}

}  // namespace
}  // namespace trainer
