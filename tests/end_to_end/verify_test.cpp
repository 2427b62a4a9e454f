// SPDX-License-Identifier: Apache-2.0
// Drives `trainer verify`, as a user does.
#include <filesystem>
#include <regex>
#include <string>

#include <gtest/gtest.h>

#include "trainer/base/text/json.h"
#include "trainer/base/version.h"
#include "trainer/run/checkpoint/checkpoint.h"

#include "support/checkpoints.h"
#include "support/process.h"
#include "support/temporary_folder.h"
#include "support/trainer_program.h"

namespace trainer {
namespace {

namespace fs = std::filesystem;
using test::ProcessResult;
using test::trainer_in;

const std::string kDamage =
    "record \"archive/data/0\": the CRC-32 is 0x4cff0dec, expected 0x714ee130; the file is "
    "damaged, use an older checkpoint";

// A run folder with three names of two checkpoints.
class VerifyProgramTest : public testing::Test {
 protected:
  VerifyProgramTest() {
    fs::create_directories(checkpoints_);
    checkpoint::Checkpoint c = test::sound_checkpoint();
    c.fingerprints = {data::fingerprint(folder_.write("here.csv", "a\n")),
                      {"/nowhere/gone.csv", 1, 2}};
    checkpoint::write(checkpoints_ / "best.pt", c);
    c.state.position = {.epoch = 1200, .step = 54321, .samples_in_epoch = 0};
    checkpoint::write(checkpoints_ / "checkpoint_epoch_1200.pt", c);
    fs::create_hard_link(checkpoints_ / "checkpoint_epoch_1200.pt", checkpoints_ / "last.pt");
  }

  ProcessResult verify(const std::string& arguments) const {
    ProcessResult result = trainer_in(folder_.path(), "verify " + arguments);
    // What depends on the clock and on the size of a version's name.
    const auto mask = [&](const char* pattern, const char* with) {
      result.out = std::regex_replace(result.out, std::regex(pattern), with);
    };
    mask(R"([0-9.]+ [KMGi]*B in [0-9.]+ [mu]?s \([0-9.]+ [KMGi]*B/s\))", "BYTES in TIME");
    mask(R"([0-9.]+ KiB)", "SIZE");
    return result;
  }

  // Changes one byte of the model's first tensor.
  void damage(const fs::path& file) const {
    std::string bytes = test::read_file(file);
    const float value = 0.5F;
    const std::string weights(reinterpret_cast<const char*>(&value), sizeof value);
    const std::size_t at = bytes.find(weights + weights + weights);
    ASSERT_NE(at, std::string::npos);
    bytes[at] ^= 1;
    folder_.write(fs::relative(file, folder_.path()).string(), bytes);
  }

  test::TemporaryFolder folder_;
  fs::path checkpoints_ = folder_.path() / "runs/one/checkpoints";
};

TEST_F(VerifyProgramTest, FilesAreDescribedAsJson) {
  damage(checkpoints_ / "best.pt");
  const ProcessResult result = trainer_in(folder_.path(), "verify runs/one --json");
  EXPECT_EQ(result.exit_code, 7);
  const Json json = parse_json(result.out);
  EXPECT_EQ(json["good"], 1);
  EXPECT_EQ(json["damaged"], 1);
  ASSERT_EQ(json["files"].size(), 3U);
  EXPECT_EQ(json["files"][0]["state"], "damaged");
  EXPECT_EQ(json["files"][0]["problem"], kDamage);
  EXPECT_EQ(json["files"][1]["state"], "good");
  EXPECT_EQ(json["files"][1]["epoch"], 1200);
  EXPECT_EQ(json["files"][1]["data_files"][1]["state"], "missing");
  EXPECT_EQ(json["files"][2]["same_as"], "checkpoint_epoch_1200.pt");
  const ProcessResult one =
      trainer_in(folder_.path(), "verify runs/one/checkpoints/last.pt --json");
  EXPECT_EQ(one.exit_code, 0);
  EXPECT_EQ(parse_json(one.out)["files"][0]["step"], 54321);
}

TEST_F(VerifyProgramTest, AGoodFileIsDescribed) {
  const ProcessResult result = verify("runs/one/best.pt");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.err, "");
  EXPECT_EQ(result.out,
            "file        runs/one/checkpoints/best.pt (SIZE)\n"
            "written by  trainer " +
                build_info().version +
                ", format version 4\n"
                "progress    epoch 3, step 12, 64 samples into epoch 4\n"
                "best epoch  2 (loss 0.0625)\n"
                "model       3-4-2 batch norm, relu; 34 parameters, 8 tensors\n"
                "optimizer   adamw at step 11, exp_avg and exp_avg_sq\n"
                "data        3 features, target \"kind\": 2 classes (classification)\n"
                "data file   " +
                (folder_.path() / "here.csv").string() +
                ": unchanged\n"
                "data file   /nowhere/gone.csv: missing\n"
                "threads     4\n"
                "verified    22 tensors, all CRC-32 match, BYTES in TIME\n");
}

TEST_F(VerifyProgramTest, ADamagedFileEndsWithSeven) {
  damage(checkpoints_ / "best.pt");
  const ProcessResult result = verify("runs/one/best.pt");
  EXPECT_EQ(result.exit_code, 7);
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(result.err, "error: runs/one/checkpoints/best.pt: " + kDamage + "\n");
}

TEST_F(VerifyProgramTest, AFolderIsATableInWhichAFileIsReadOnce) {
  const std::string table =
      "file                      epoch    step      size  state\n"
      "best.pt                       3      12  SIZE  good\n"
      "checkpoint_epoch_1200.pt  1,200  54,321  SIZE  good\n"
      "last.pt                   1,200  54,321  SIZE  same file as checkpoint_epoch_1200.pt\n"
      "\n"
      "verified    2 of 2 files are good, BYTES in TIME\n";
  for (const char* folder : {"runs/one", "runs/one/checkpoints"}) {
    const ProcessResult result = verify(folder);
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_EQ(result.err, "");
    EXPECT_EQ(result.out, table);
  }
}

TEST_F(VerifyProgramTest, ADamagedFileInAFolderHasItsReasonThereAndEndsWithSeven) {
  damage(checkpoints_ / "best.pt");
  const ProcessResult result = verify("runs/one");
  EXPECT_EQ(result.exit_code, 7);
  EXPECT_EQ(result.err, "");
  EXPECT_EQ(result.out,
            "file                      epoch    step      size  state\n"
            "best.pt                       -       -  SIZE  damaged\n"
            "checkpoint_epoch_1200.pt  1,200  54,321  SIZE  good\n"
            "last.pt                   1,200  54,321  SIZE  same file as checkpoint_epoch_1200.pt\n"
            "best.pt: " +
                kDamage +
                "\n\n"
                "verified    1 of 2 files are good, BYTES in TIME\n");
}

TEST_F(VerifyProgramTest, SeveralPathsAreOneTable) {
  const ProcessResult result = verify("runs/one/last.pt runs/one/best.pt");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out,
            "file              epoch    step      size  state\n"
            "runs/one/last.pt  1,200  54,321  SIZE  good\n"
            "runs/one/best.pt      3      12  SIZE  good\n"
            "\n"
            "verified    2 of 2 files are good, BYTES in TIME\n");
}

TEST_F(VerifyProgramTest, WhatIsNotThereEndsWithSeven) {
  const ProcessResult file = verify("runs/one/worst.pt");
  EXPECT_EQ(file.exit_code, 7);
  EXPECT_EQ(file.err,
            "error: runs/one/worst.pt: no such checkpoint; runs/one/checkpoints has best.pt, "
            "checkpoint_epoch_1200.pt and last.pt\n");
  const ProcessResult folder = verify("runs");
  EXPECT_EQ(folder.exit_code, 7);
  EXPECT_EQ(folder.err, "error: runs: no such checkpoint; there are no checkpoints in runs\n");
}

}  // namespace
}  // namespace trainer
