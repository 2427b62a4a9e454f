// SPDX-License-Identifier: Apache-2.0

#include "train/engine/run_folder.h"

#include <filesystem>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "trainer/base/error.h"
#include "trainer/nn/cpu/kernels.h"
#include "trainer/train/engine/engine.h"

#include "support/engine_runs.h"
#include "support/error_of.h"
#include "support/quiet_log.h"
#include "support/temporary_folder.h"

namespace trainer::engine {
namespace {

namespace fs = std::filesystem;
using test::kSmallRun;
using test::make_request;
using test::resumed_from;
using test::TemporaryFolder;
using test::train_quietly;

fs::path last_checkpoint(const TrainReport& report) {
  return report.run_dir / "checkpoints" / "last.pt";
}

std::string refusal(const fs::path& checkpoint, const std::string& changes) {
  return fmt::format(
      "{}: the configuration or data differ from those of the checkpoint:\n"
      "  {}\n"
      "undo the changes, pass --allow-changes to resume anyway, or start a new run: without "
      "--resume, or with another --tag for --resume auto",
      checkpoint.string(), changes);
}

TEST(ResumeGuardTest, ChangedKeysAreRefusedWithTheirValues) {
  const TemporaryFolder folder;
  const fs::path last = last_checkpoint(train_quietly(make_request(folder.path(), kSmallRun)));
  const TrainRequest changed =
      make_request(folder.path(), kSmallRun,
                   {{"training.learning_rate", "0.02"}, {"training.optimizer.name", "sgd"}});
  const Error error = test::error_of([&] { train(resumed_from(changed, last)); });
  EXPECT_EQ(error.kind(), ErrorKind::kCheckpoint);
  EXPECT_EQ(error.what(), refusal(last,
                                  "training.learning_rate: 0.01 before, 0.02 now\n"
                                  "  training.optimizer.name: adamw before, sgd now"));
}

TEST(ResumeGuardTest, ChangesThatAreAllowedAreAWarning) {
  const TemporaryFolder folder;
  const fs::path last = last_checkpoint(train_quietly(make_request(folder.path(), kSmallRun)));
  TrainRequest request =
      resumed_from(make_request(folder.path(), kSmallRun,
                                {{"training.learning_rate", "0.02"}, {"training.epochs", "3"}}),
                   last);
  request.on_change = OnChange::kAllow;
  const test::QuietLog quiet(log::Level::kWarning);
  testing::internal::CaptureStderr();
  const TrainReport report = train(request);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "warning: resuming with changes:\n"
            "  training.learning_rate: 0.01 before, 0.02 now\n");
  EXPECT_EQ(report.epochs, 3);
}

TEST(ResumeGuardTest, KeysThatDoNotDecideWhatIsComputedMayChange) {
  const TemporaryFolder folder;
  const fs::path last = last_checkpoint(train_quietly(make_request(folder.path(), kSmallRun)));
  const TrainRequest request = make_request(
      folder.path(), kSmallRun,
      {{"training.epochs", "3"}, {"checkpoint.keep_last", "1"}, {"logging.save_interval", "2"}});
  EXPECT_EQ(train_quietly(resumed_from(request, last)).epochs, 3);
}

constexpr const char* kCsvRun = R"(
device: cpu
threads: 1
data: {source: csv, path: points.csv, target: kind, validation_fraction: 0, test_fraction: 0}
model: {hidden_size: 4}
training: {epochs: 1}
)";

TEST(ResumeGuardTest, AChangedDataFileIsRefused) {
  const TemporaryFolder folder;
  const std::string rows = "x,y,kind\n1,2,a\n2,1,b\n1,3,a\n3,1,b\n";
  const fs::path data = folder.write("points.csv", rows);
  const TrainRequest request = make_request(folder.path(), kCsvRun);
  const fs::path last = last_checkpoint(train_quietly(request));
  EXPECT_EQ(train_quietly(resumed_from(request, last)).epochs, 1);

  const data::Fingerprint before = data::fingerprint(data);
  folder.write("points.csv", rows + "4,1,b\n");
  const data::Fingerprint after = data::fingerprint(data);
  const Error error = test::error_of([&] { train(resumed_from(request, last)); });
  EXPECT_EQ(error.kind(), ErrorKind::kCheckpoint);
  EXPECT_EQ(error.what(),
            refusal(last, fmt::format("{}: 33 bytes, CRC-32 {:08x} before, 39 bytes, CRC-32 "
                                      "{:08x} now",
                                      data.string(), before.crc32, after.crc32)));
}

TEST(ResumeGuardTest, AnotherNumberOfDataFilesIsRefused) {
  const TemporaryFolder folder;
  folder.write("points.csv", "x,y,kind\n1,2,a\n2,1,b\n1,3,a\n3,1,b\n");
  const TrainRequest request = make_request(folder.path(), kCsvRun);
  const fs::path last = last_checkpoint(train_quietly(request));
  TrainRequest resumed = resumed_from(request, last);
  resumed.resume->checkpoint.fingerprints.clear();
  EXPECT_EQ(test::error_of([&] { train(resumed); }).what(),
            refusal(last, "data files: 0 before, 1 now"));
}

TEST(ResumeGuardTest, AnotherKindOfProductsInBf16IsRefused) {
  const TemporaryFolder folder;
  const TrainRequest request = make_request(folder.path(), kSmallRun, {{"precision", "bf16"}});
  const fs::path last = last_checkpoint(train_quietly(request));
  EXPECT_EQ(train_quietly(resumed_from(request, last)).epochs, 2);

  const Bf16Products here = cpu::kernels().bf16_products;
  const Bf16Products other =
      here == Bf16Products::kPairs ? Bf16Products::kAmx : Bf16Products::kPairs;
  TrainRequest resumed = resumed_from(request, last);
  resumed.resume->checkpoint.bf16_products = other;
  const std::string change =
      fmt::format("products in bf16: {} before, {} now", to_text(other), to_text(here));
  const Error error = test::error_of([&] { train(resumed); });
  EXPECT_EQ(error.kind(), ErrorKind::kCheckpoint);
  EXPECT_EQ(error.what(), fmt::format("{}: this processor computes other bits than that of the "
                                      "checkpoint:\n  {}\nresume the run on a processor with the "
                                      "same instructions, or pass --allow-changes to resume anyway",
                                      last.string(), change));

  resumed.on_change = OnChange::kAllow;
  const test::QuietLog quiet(log::Level::kWarning);
  testing::internal::CaptureStderr();
  train(resumed);
  // Where the CPU has no fast instructions for bf16, a warning of that comes first.
  const std::string warnings = testing::internal::GetCapturedStderr();
  EXPECT_TRUE(warnings.ends_with(fmt::format("warning: resuming with changes:\n  {}\n", change)))
      << warnings;
}

TEST(ResumeGuardTest, StepsOtherThanTheFusedOneInBf16HaveNoKindOfProducts) {
  const TemporaryFolder folder;
  const TrainRequest request = make_request(folder.path(), kSmallRun);
  TrainRequest resumed = resumed_from(request, last_checkpoint(train_quietly(request)));
  resumed.resume->checkpoint.bf16_products = Bf16Products::kAmx;
  EXPECT_GT(train_quietly(resumed).epochs, 0);
}

// The text of the configuration without `key`, as versions wrote it that did not know it.
std::string without_key(std::string text, const std::string& key) {
  const size_t begin = text.find("  " + key + ":");
  return text.erase(begin, text.find('\n', begin) + 1 - begin);
}

TEST(ResumeGuardTest, ARunOfAVersionWithoutWindowsIsResumedInItsOrder) {
  const TemporaryFolder folder;
  const TrainRequest request = make_request(folder.path(), kSmallRun);
  TrainRequest resumed = resumed_from(request, last_checkpoint(train_quietly(request)));
  data::Datasets data;
  const auto window_for = [&](int64_t num_rows) {
    data.train.features = {num_rows, 1, Array<float>()};
    config::Config config = resumed.config.config;
    keep_order(resumed, data, config);
    return config.data.shuffle_window;
  };
  EXPECT_EQ(window_for(3'000'000), 0);
  std::string& text = resumed.resume->checkpoint.config;
  text = without_key(text, "shuffle_window");
  EXPECT_EQ(window_for(3'000'000), 3'000'000);
  EXPECT_EQ(window_for(2'000'000), 0);  // one window
  resumed.config.config.data.shuffle_window = 5;
  EXPECT_EQ(window_for(3'000'000), 5);
}

}  // namespace

}  // namespace trainer::engine
