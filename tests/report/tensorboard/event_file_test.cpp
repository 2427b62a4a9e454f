// SPDX-License-Identifier: Apache-2.0
#include "trainer/report/tensorboard/event_file.h"

#include <cstring>
#include <limits>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "trainer/base/error.h"

#include "support/error_of.h"
#include "support/files.h"
#include "support/temporary_folder.h"

namespace trainer::tensorboard {
namespace {

namespace fs = std::filesystem;

std::string only_file(const fs::path& folder) {
  return test::read_file(fs::directory_iterator(folder)->path());
}

/// The bytes as hexadecimal digits.
std::string hex(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

/// The data of each record, without its time, which is in its first nine bytes.
std::vector<std::string> records(const std::string& file) {
  std::vector<std::string> all;
  for (std::size_t at = 0; at < file.size();) {
    uint64_t length = 0;
    std::memcpy(&length, file.data() + at, sizeof length);
    all.push_back(file.substr(at + 12 + 9, length - 9));
    at += 12 + length + 4;
  }
  return all;
}

// The check value of CRC-32C is e3069283 (RFC 3720), here masked.
TEST(EventFileTest, TheChecksumIsTheMaskedOneOfTensorflow) {
  const std::string_view digits = "123456789";
  const uint32_t crc = 0xE3069283;
  EXPECT_EQ(masked_crc32c(std::as_bytes(std::span(digits.data(), digits.size()))),
            ((crc >> 15) | (crc << 17)) + 0xA282EAD8U);
}

// As every file that TensorFlow writes.
TEST(EventFileTest, BeginsAsThoseOfTensorflow) {
  const test::TemporaryFolder folder;
  const EventFile file(folder.path() / "t", 0);
  const std::string bytes = only_file(folder.path() / "t");
  EXPECT_EQ(hex(bytes.substr(0, 13)), "1800000000000000a37f4b2209");
  EXPECT_EQ(records(bytes).front(),
            "\x1a\x0d"
            "brain.Event:2");
  EXPECT_TRUE(fs::directory_iterator(folder.path() / "t")
                  ->path()
                  .filename()
                  .string()
                  .starts_with("events.out.tfevents."));
}

TEST(EventFileTest, EncodesAsProtobufDoes) {
  const test::TemporaryFolder folder;
  EventFile file(folder.path(), 300);
  file.add_scalar("loss", 1.5, 301);
  file.add_histogram("w", std::vector<float>{1, 1, std::numeric_limits<float>::infinity()}, 2);
  file.add_hyperparameters({{"lr", "0.5"}, {"norm", "batch"}});
  const std::vector<std::string> all = records(only_file(folder.path()));
  ASSERT_EQ(all.size(), 5U);
  EXPECT_EQ(hex(all[1]),
            "10ac02"
            "3a02"
            "0801");  // step 300, the start of a session
  EXPECT_EQ(hex(all[2]),
            "10ad02"
            "2a0d"
            "0a0b"
            "0a046c6f7373"
            "150000c03f");  // summary { value { tag, 1.5 } }
  const std::string one = "000000000000f03f";
  const std::string two = "0000000000000040";
  EXPECT_EQ(hex(all[3]),
            "1002"
            "2a48"
            "0a46"
            "0a0177"
            "2a41"
            "09" +
                one + "11" + one + "19" + two + "21" + two + "29" + two + "3208" + one + "3a08" +
                two);
  EXPECT_NE(all[4].find("_hparams_/session_start_info"), std::string::npos);
}

TEST(EventFileTest, OfNoFileNothingIsWritten) {
  EventFile file;
  EXPECT_FALSE(file.is_open());
  file.add_scalar("loss", 1, 1);
  file.go_back_to(1);
}

TEST(EventFileTest, AFolderThatCannotBeMadeIsAnError) {
  const test::TemporaryFolder folder;
  folder.write("t", "");
  EXPECT_EQ(test::error_of([&] { const EventFile file(folder.path() / "t", 0); }).kind(),
            ErrorKind::kFileSystem);
}

}  // namespace
}  // namespace trainer::tensorboard
