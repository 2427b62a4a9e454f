// SPDX-License-Identifier: Apache-2.0

#include "trainer/table/source/data_file.h"

#include <gtest/gtest.h>

#include "support/error_of.h"
#include "support/temporary_folder.h"

namespace trainer::data {
namespace {

TEST(FingerprintTest, DescribesTheContent) {
  const test::TemporaryFolder folder;
  const Fingerprint result = fingerprint(folder.write("sub/../f", "123456789"));
  EXPECT_EQ(result.path, (folder.path() / "f").string());
  EXPECT_EQ(result.num_bytes, 9u);
  EXPECT_EQ(result.crc32, 0xCBF43926u);  // the check value of CRC-32
}

TEST(FingerprintTest, SaysWhatIsCompared) {
  EXPECT_EQ(content_text({"/data/train.csv", 987654321, 0x0EDCBA98}),
            "987654321 bytes with CRC-32 0edcba98");
}

TEST(FingerprintTest, ReadsFilesLargerThanItsBuffer) {
  const test::TemporaryFolder folder;
  std::string content(1'000'000, 'a');
  const Fingerprint before = fingerprint(folder.write("f", content));
  content.back() = 'b';
  const Fingerprint after = fingerprint(folder.write("f", content));
  EXPECT_EQ(before.num_bytes, 1'000'000u);
  EXPECT_NE(before.crc32, after.crc32);
}

TEST(FingerprintTest, RefusesAMissingFile) {
  const test::TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "absent";
  const Error error = test::error_of([&] { fingerprint(path); });
  EXPECT_EQ(error.kind(), ErrorKind::kData);
  EXPECT_EQ(error.what(), path.string() + ": no such file");
}

}  // namespace

}  // namespace trainer::data
