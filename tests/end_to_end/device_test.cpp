// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <regex>
#include <string>

#include <gtest/gtest.h>

#include "trainer/base/text/json.h"

#include "support/sanitizers.h"
#include "support/temporary_folder.h"
#include "support/test_accuracy.h"
#include "support/trainer_program.h"

namespace trainer {
namespace {

namespace fs = std::filesystem;
using test::ProcessResult;
using test::test_accuracy;
using test::trainer_in;

std::string digits(const std::string& arguments) {
  return test::with_config("train.yaml") + "data.test_fraction=0.4 --threads 1 " + arguments;
}

TEST(DeviceTest, DigitsAreLearntInBf16AsWellAsInFp32) {
  const test::TemporaryFolder folder;
  const ProcessResult fp32 = trainer_in(folder.path(), digits("--precision fp32"));
  const ProcessResult bf16 = trainer_in(folder.path(), digits("--precision bf16"));
  EXPECT_GT(test_accuracy(fp32.out), 95) << fp32.err;
  EXPECT_NEAR(test_accuracy(bf16.out), test_accuracy(fp32.out), 0.5) << bf16.err;
  EXPECT_NE(bf16.err.find("precision   bf16"), std::string::npos);
  EXPECT_NE(bf16.err.find("step        fused ("), std::string::npos);
}

TEST(DeviceTest, AModelIsAppliedInBf16IfThatIsAsked) {
  const test::TemporaryFolder folder;
  ASSERT_EQ(trainer_in(folder.path(), "-q " + digits("--epochs 5 --precision bf16")).exit_code, 0);
  const auto eval = [&](const std::string& arguments) {
    return trainer_in(folder.path(), "eval runs/latest --json " + arguments);
  };
  const auto loss_of = [](const ProcessResult& result) {
    return parse_json(result.out)["loss"].get<double>();
  };
  const ProcessResult fp32 = eval("");
  const ProcessResult bf16 = eval("--precision bf16");
  ASSERT_EQ(fp32.exit_code, 0) << fp32.err;
  ASSERT_EQ(bf16.exit_code, 0) << bf16.err;
  EXPECT_NE(loss_of(fp32), loss_of(bf16));
  EXPECT_NEAR(loss_of(fp32), loss_of(bf16), 0.01 * loss_of(fp32));
  const ProcessResult fp16 = eval("--precision fp16");
  EXPECT_EQ(fp16.exit_code, 2);
  EXPECT_EQ(
      fp16.err,
      "error: precision: a model is applied in fp32 or bf16, got fp16; set precision: bf16\n");
}

// LibTorch 1.13 has no products in fp16 on the CPU; newer ones do.
TEST(DeviceTest, Fp16IsComputedOrSaidNotToBe) {
  const test::TemporaryFolder folder;
  const ProcessResult strict =
      trainer_in(folder.path(), digits("--precision fp16 device_fallback=false --device cpu"));
  const ProcessResult lenient = trainer_in(folder.path(), digits("--precision fp16 --device cpu"));
  EXPECT_EQ(lenient.exit_code, 0) << lenient.err;
  EXPECT_GT(test_accuracy(lenient.out), 95);
  if (strict.exit_code == 0) {
    EXPECT_NE(lenient.err.find("precision   fp16"), std::string::npos);
    EXPECT_NE(test::read_file(folder.path() / "runs/latest/metrics.jsonl").find("\"loss_scale\":"),
              std::string::npos);
    return;
  }
  EXPECT_EQ(strict.exit_code, 4);
  EXPECT_TRUE(std::regex_match(
      strict.err, std::regex("error: precision: LibTorch [0-9.]+ does not support fp16 on cpu; "
                             "choose another precision or device, or set device_fallback: true\n")))
      << strict.err;
  EXPECT_NE(lenient.err.find("does not support fp16 on cpu; using fp32 instead\n"),
            std::string::npos)
      << lenient.err;
  EXPECT_NE(lenient.err.find("precision   fp32"), std::string::npos);
}

TEST(DeviceTest, TheFusedStepIsRefusedWhereItHasNoKernels) {
  const test::TemporaryFolder folder;
  const ProcessResult checkpointing =
      trainer_in(folder.path(), "model.activation_checkpointing=true training.step=fused");
  EXPECT_EQ(checkpointing.exit_code, 2);
  EXPECT_EQ(checkpointing.err,
            "error: command line: model.activation_checkpointing: conflicts with training.step: "
            "fused, which keeps all activations; set training.step: auto\n");
  EXPECT_FALSE(fs::exists(folder.path() / "runs"));
}

std::string last_record(const fs::path& folder, const std::string& split) {
  const std::string text = test::read_file(folder / "runs/latest/metrics.jsonl");
  const std::size_t at = text.rfind("\"split\":\"" + split + "\"");
  const std::size_t begin = text.rfind('\n', at) + 1;
  return text.substr(begin, text.find('\n', at) - begin);
}

// The limit is looked for: how much LibTorch itself takes differs.
TEST(DeviceTest, ARunOutlivesAMemoryThatItsBatchDoesNotFitInto) {
  if (test::kHasAddressSanitizer) GTEST_SKIP() << "AddressSanitizer takes all addresses";
  const test::TemporaryFolder folder;
  const std::string run =
      "data.synthetic.num_samples=20000 data.validation_fraction=0 data.test_fraction=0 "
      "model.hidden_size=1024 training.batch_size=20000 training.epochs=1 --threads 1 --device cpu";
  ASSERT_EQ(trainer_in(folder.path(), run).exit_code, 0);
  const auto whole = parse_json(last_record(folder.path(), "train"));
  EXPECT_FALSE(whole.contains("micro_batch_size"));
  for (int64_t kibibytes = 400000; kibibytes < 8000000; kibibytes += 150000) {
    const ProcessResult result =
        trainer_in(folder.path(), run, "ulimit -v " + std::to_string(kibibytes) + " &&");
    if (result.exit_code != 0) {
      // Where not even LibTorch fits, it cannot be loaded.
      EXPECT_TRUE(result.exit_code == 5 || result.exit_code == 4) << result.err;
      continue;
    }
    EXPECT_NE(
        result.err.find("out of memory on cpu with 20,000 rows; using micro-batches of 10,000 "
                        "rows from now on (same result)\n"),
        std::string::npos)
        << result.err;
    EXPECT_TRUE(std::regex_search(
        result.out, std::regex("memory      ran out .* with micro-batches of [0-9,]+ rows\n")));
    const auto split = parse_json(last_record(folder.path(), "train"));
    EXPECT_LE(split["micro_batch_size"].get<int64_t>(), 10000);
    EXPECT_NEAR(split["loss"].get<double>(), whole["loss"].get<double>(), 1e-6);
    return;
  }
  FAIL() << "no limit made a difference";
}

TEST(DeviceTest, FindBatchTellsTheLargestAndTheFastestBatch) {
  const test::TemporaryFolder folder;
  const ProcessResult result =
      trainer_in(folder.path(), "find-batch model.hidden_size=8 --max-batch 40 --device cpu");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out.rfind("     batch  threads       step     samples/s      memory\n", 0), 0U)
      << result.out;
  EXPECT_TRUE(
      std::regex_search(result.out, std::regex("\n        32 +\\d+ +\\S+ (us|ms|s) +[0-9,]+ ")))
      << result.out;
  EXPECT_NE(result.out.find("\nlargest     40 rows, the limit of --max-batch\n"),
            std::string::npos);
  EXPECT_TRUE(std::regex_search(
      result.out,
      std::regex("\nfastest     \\d+ rows: [0-9,]+ samples/s, within 5 % of the best\n")));
  EXPECT_FALSE(fs::exists(folder.path() / "runs"));
}

TEST(DeviceTest, FindBatchNamesWhatIsWrong) {
  const test::TemporaryFolder folder;
  EXPECT_EQ(trainer_in(folder.path(), "find-batch").err,
            "error: find-batch: expected a configuration, got nothing; try trainer find-batch "
            "--config configs/train.yaml\n");
  const ProcessResult result =
      trainer_in(folder.path(), "find-batch seed=1 --max-batch none --resume auto");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.err,
            "error: --resume is not supported by find-batch\n"
            "--max-batch: expected an integer >= 1, got \"none\"\n");
}

}  // namespace
}  // namespace trainer
