// SPDX-License-Identifier: Apache-2.0
// Runs of a table that was encoded before (data.cache).
#include <chrono>
#include <filesystem>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/error_of.h"
#include "support/files.h"
#include "support/metrics_records.h"
#include "support/program_test.h"

namespace trainer {
namespace {

namespace fs = std::filesystem;
using test::ProcessResult;

class CachedRunTest : public test::ProgramTest {
 protected:
  void SetUp() override {
    std::string text = "a,b,y\n";
    for (int row = 0; row < 3000; ++row) {
      text += fmt::format("{},{},{}\n", row * 7 % 31, row * 5 % 13, row * 7 % 31 > row * 5 % 13);
    }
    folder_.write("t.csv", text);
    fs::last_write_time(path("t.csv"), fs::file_time_type::clock::now() - std::chrono::hours(1));
    folder_.write("t.yaml",
                  "data: {source: csv, path: t.csv, target: y, cache: kept}\n"
                  "training: {epochs: 4, batch_size: 64, schedule: {name: constant}}\n"
                  "model: {hidden_sizes: 8}\nthreads: 1\n");
  }

  fs::path entry() const { return *fs::directory_iterator(path("kept")); }
};

TEST_F(CachedRunTest, AllRunsAreTheSame) {
  ASSERT_EQ(trainer("--config t.yaml data.cache=off --output-dir read").exit_code, 0);
  const ProcessResult first = trainer("--config t.yaml --output-dir written");
  ASSERT_EQ(first.exit_code, 0) << first.err;
  EXPECT_NE(first.err.find("cache       written to " + entry().string()), std::string::npos)
      << first.err;
  ASSERT_EQ(trainer("--config t.yaml --output-dir parts --epochs 2").exit_code, 0);
  const ProcessResult resumed = trainer("--resume parts/latest --epochs 4");
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_NE(resumed.err.find("cache       mapped from " + entry().string()), std::string::npos)
      << resumed.err;
  const auto lines = test::timeless_lines(path("read/latest/metrics.jsonl"));
  EXPECT_EQ(test::timeless_lines(path("written/latest/metrics.jsonl")), lines);
  EXPECT_EQ(test::timeless_lines(path("parts/latest/metrics.jsonl")), lines);
  EXPECT_EQ(test::after("model       parts", trainer("eval parts/latest").out),
            test::after("model       read", trainer("eval read/latest").out));
}

TEST_F(CachedRunTest, ARunWithAWindowIsResumedExactly) {
  const std::string run = "--config t.yaml data.shuffle_window=500 --output-dir ";
  ASSERT_EQ(trainer(run + "whole --epochs 2").exit_code, 0);
  ASSERT_EQ(trainer(run + "parts --epochs 1").exit_code, 0);
  ASSERT_EQ(trainer("--resume parts/latest --epochs 2").exit_code, 0);
  ASSERT_EQ(trainer(run + "read --epochs 2 data.cache=off").exit_code, 0);
  const auto lines = test::timeless_lines(path("whole/latest/metrics.jsonl"));
  EXPECT_EQ(test::timeless_lines(path("parts/latest/metrics.jsonl")), lines);
  EXPECT_EQ(test::timeless_lines(path("read/latest/metrics.jsonl")), lines);
}

TEST_F(CachedRunTest, AWindowOfAllRowsChangesNothing) {
  ASSERT_EQ(trainer("--config t.yaml --output-dir auto").exit_code, 0);
  ASSERT_EQ(trainer("--config t.yaml data.shuffle_window=2400 --output-dir all").exit_code, 0);
  ASSERT_EQ(trainer("--config t.yaml data.shuffle_window=2399 --output-dir less").exit_code, 0);
  const auto lines = test::timeless_lines(path("auto/latest/metrics.jsonl"));
  EXPECT_EQ(test::timeless_lines(path("all/latest/metrics.jsonl")), lines);
  EXPECT_NE(test::timeless_lines(path("less/latest/metrics.jsonl")), lines);
}

TEST_F(CachedRunTest, DamagedRowsEndTheRunBeforeTheyAreUsed) {
  ASSERT_EQ(trainer("--config t.yaml").exit_code, 0);
  const std::string removed = entry().string() + ": rows 1 to 2,400 are damaged: their CRC-32 is ";
  std::string rows = test::read_file(entry() / "rows.bin");
  rows[4] = static_cast<char>(rows[4] ^ 1);
  folder_.write(fs::relative(entry() / "rows.bin", folder_.path()).string(), rows);
  for (const char* step : {"fused", "autograd"}) {
    const ProcessResult result =
        trainer(std::string("--config t.yaml training.step=") + step + " --output-dir damaged");
    EXPECT_EQ(result.exit_code, 3);
    EXPECT_NE(result.err.find("error: " + removed), std::string::npos) << result.err;
    EXPECT_NE(result.err.find("; remove this folder and start again\n"), std::string::npos);
  }
}

}  // namespace
}  // namespace trainer
