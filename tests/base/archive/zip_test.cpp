// SPDX-License-Identifier: Apache-2.0
#include "base/archive/zip.h"

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "trainer/base/error.h"

#include "support/bytes.h"
#include "support/error_of.h"
#include "support/files.h"
#include "support/temporary_folder.h"

namespace trainer::archive {
namespace {

using test::bytes_of;
using test::TemporaryFolder;
using Records = std::vector<std::pair<std::string, std::string>>;

std::string make_zip(const Records& records, uint64_t zip64_from = kZip64From) {
  const TemporaryFolder folder;
  AtomicFile file(folder.path() / "a.zip");
  ZipWriter zip(file, zip64_from);
  for (const auto& [name, bytes] : records) zip.add(name, bytes_of(bytes));
  zip.finish();
  file.commit();
  return test::read_file(folder.path() / "a.zip");
}

Records find_records(const std::string& zip) {
  Records records;
  for (const auto& [name, bytes] : read_zip(bytes_of(zip), "a.pt")) {
    records.emplace_back(name,
                         std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  }
  return records;
}

std::string zip_refusal(const std::string& zip) {
  return test::message_of(ErrorKind::kCheckpoint, [&] { read_zip(bytes_of(zip), "a.pt"); });
}

// Overwrites the number at `offset`, counted from the begin of the `n`-th "PK.." signature.
template <typename T>
void patch(std::string& zip, std::string_view signature, std::size_t offset, T number,
           int skip = 0) {
  std::size_t position = zip.find(signature);
  for (; skip > 0; --skip) position = zip.find(signature, position + 1);
  ASSERT_NE(position, std::string::npos);
  std::memcpy(zip.data() + position + offset, &number, sizeof(number));
}

constexpr std::string_view kLocal = "PK\x03\x04";
constexpr std::string_view kCentral = "PK\x01\x02";
constexpr std::string_view kEnd64 = "PK\x06\x06";
constexpr std::string_view kLocator = "PK\x06\x07";
constexpr std::string_view kEnd = "PK\x05\x06";
const Records kTwo = {{"a/1", "one"}, {"a/2", std::string(200, '2')}};

TEST(ZipTest, ReadsWhatItWrote) { EXPECT_EQ(find_records(make_zip(kTwo)), kTwo); }

TEST(ZipTest, ReadsAnEmptyRecordAndNoRecords) {
  const Records empty = {{"a/1", ""}};
  EXPECT_EQ(find_records(make_zip(empty)), empty);
  EXPECT_EQ(find_records(make_zip({})), Records());
}

TEST(ZipTest, AlignsEveryRecord) {
  const std::string zip = make_zip(kTwo);
  for (const auto& [name, bytes] : read_zip(bytes_of(zip), "a.pt")) {
    EXPECT_EQ(static_cast<std::size_t>(bytes.data() - bytes_of(zip).data()) % kRecordAlignment, 0U)
        << name;
  }
}

TEST(ZipTest, ReadsItsOwn64BitFields) {
  for (const uint64_t zip64_from : std::vector<uint64_t>{0, 4, 100, 150, 300, 1000}) {
    EXPECT_EQ(find_records(make_zip(kTwo, zip64_from)), kTwo) << zip64_from;
  }
}

TEST(ZipTest, AlignsRecordsWith64BitSizesToo) {
  const std::string zip = make_zip(kTwo, 0);
  EXPECT_EQ(zip.find("one"), 64U);
}

TEST(ZipTest, ReadsADirectoryWithoutThe64BitEnd) {
  std::string zip = make_zip(kTwo);
  zip.erase(zip.find(kEnd64), 56 + 20);
  EXPECT_EQ(find_records(zip), kTwo);
}

TEST(ZipTest, RefusesAWrongChecksum) {
  std::string zip = make_zip(kTwo);
  zip[zip.find("one")] = 'O';
  EXPECT_EQ(zip_refusal(zip),
            "a.pt: record \"a/1\": the CRC-32 is 0x4221c011, expected 0x7a6c86f1; the file is "
            "damaged, use an older checkpoint");
}

TEST(ZipTest, RefusesACompressedRecord) {
  std::string zip = make_zip(kTwo);
  patch<uint16_t>(zip, kCentral, 10, 8);
  EXPECT_EQ(zip_refusal(zip),
            "a.pt: record \"a/1\": expected uncompressed bytes, got compression method 8; save the "
            "file again with torch.save");
}

TEST(ZipTest, RefusesAnEncryptedRecord) {
  std::string zip = make_zip(kTwo);
  patch<uint16_t>(zip, kCentral, 8, 1);
  EXPECT_EQ(zip_refusal(zip),
            "a.pt: record \"a/1\": expected uncompressed bytes, got encrypted data; save the file "
            "again with torch.save");
}

TEST(ZipTest, RefusesASizeBeyondTheEndOfTheFile) {
  std::string zip = make_zip(kTwo);
  for (const std::string_view header : {kLocal, kCentral}) {
    const std::size_t offset = header == kLocal ? 18 : 20;
    patch<uint32_t>(zip, header, offset, 100000);
    patch<uint32_t>(zip, header, offset + 4, 100000);
  }
  EXPECT_EQ(zip_refusal(zip),
            "a.pt: record \"a/1\": claims 100000 bytes from byte 64 of a file of 524 bytes; the "
            "file is damaged, use an older checkpoint");
}

TEST(ZipTest, RefusesA64BitSizeThatWrapsAround) {
  std::string zip = make_zip(kTwo, 0);
  const std::size_t size = zip.find(kCentral) + 46 + 3 + 4;
  const uint64_t huge = UINT64_MAX - 10;
  std::memcpy(zip.data() + size, &huge, sizeof(huge));
  std::memcpy(zip.data() + size + sizeof(huge), &huge, sizeof(huge));
  EXPECT_EQ(zip_refusal(zip),
            "a.pt: record \"a/1\": claims 18446744073709551605 bytes from byte 64 of a file of 580 "
            "bytes; the file is damaged, use an older checkpoint");
}

TEST(ZipTest, RefusesAHeaderBeyondTheEndOfTheFile) {
  std::string zip = make_zip(kTwo);
  patch<uint32_t>(zip, kCentral, 42, 0xFFFFFFF0);
  EXPECT_EQ(zip_refusal(zip),
            "a.pt: record \"a/1\": expected its header at byte 4294967280, got something else; the "
            "file is damaged, use an older checkpoint");
}

TEST(ZipTest, RefusesHeadersThatDisagree) {
  std::string zip = make_zip(kTwo);
  patch<uint32_t>(zip, kLocal, 22, 2);
  EXPECT_EQ(zip_refusal(zip),
            "a.pt: record \"a/1\": its header and the zip directory disagree; the file is damaged, "
            "use an older checkpoint");
}

TEST(ZipTest, RefusesTwoSizes) {
  std::string zip = make_zip(kTwo);
  patch<uint32_t>(zip, kCentral, 20, 2);
  EXPECT_EQ(zip_refusal(zip),
            "a.pt: record \"a/1\": conflicting sizes; the file is damaged, use an "
            "older checkpoint");
}

TEST(ZipTest, RefusesANameThatStandsTwice) {
  EXPECT_EQ(zip_refusal(make_zip({{"a/1", "one"}, {"a/1", "two"}})),
            "a.pt: record \"a/1\": duplicate name; the file is damaged, use an older checkpoint");
}

// A record may not hold the header of another one: nested a million times, a small file would take
// hours to check.
TEST(ZipTest, RefusesRecordsThatOverlap) {
  const std::string second = make_zip({{"a/2", std::string(1000, '2')}});
  const std::string nested = second.substr(0, second.find(kCentral));
  std::string zip = make_zip({{"a/1", nested}, {"a/2", std::string(1000, '2')}});
  const std::size_t removed_from = zip.rfind(kLocal);
  const std::size_t removed = zip.find(kCentral) - removed_from;
  zip.erase(removed_from, removed);
  const auto directory = static_cast<uint32_t>(removed_from);
  patch<uint32_t>(zip, kCentral, 42, 64, 1);
  patch<uint64_t>(zip, kEnd64, 48, directory);
  patch<uint64_t>(zip, kLocator, 8, zip.find(kEnd64));
  patch<uint32_t>(zip, kEnd, 16, directory);
  EXPECT_EQ(zip_refusal(zip),
            "a.pt: record \"a/2\": overlaps another record; the file is damaged, use an older "
            "checkpoint");
}

TEST(ZipTest, RefusesAFileThatWasCutShort) {
  std::string zip = make_zip(kTwo);
  zip.pop_back();
  EXPECT_EQ(zip_refusal(zip),
            "a.pt: expected the end of a zip directory in the last 22 bytes, got something else; "
            "the file is damaged or truncated, use an older checkpoint");
}

TEST(ZipTest, RefusesADirectoryThatIsNotWhereItShouldBe) {
  std::string zip = make_zip(kTwo);
  patch<uint64_t>(zip, kEnd64, 48, 7);
  patch<uint32_t>(zip, kEnd, 16, 7);
  EXPECT_EQ(zip_refusal(zip),
            "a.pt: expected a zip directory that ends at byte 426, got 98 bytes from byte 7; the "
            "file is damaged or truncated, use an older checkpoint");
}

TEST(ZipTest, RefusesAnEntryCountThatIsTooLargeOrTooSmall) {
  std::string zip = make_zip(kTwo);
  for (const uint16_t count : {uint16_t{1}, uint16_t{3}}) {
    patch<uint64_t>(zip, kEnd64, 24, count);
    patch<uint64_t>(zip, kEnd64, 32, count);
    patch<uint16_t>(zip, kEnd, 8, count);
    patch<uint16_t>(zip, kEnd, 10, count);
    EXPECT_EQ(zip_refusal(zip),
              count == 1
                  ? "a.pt: the zip directory has bytes that belong to no entry; the file is "
                    "damaged or truncated, use an older checkpoint"
                  : "a.pt: expected an entry of the zip directory at byte 426, got something else; "
                    "the file is damaged or truncated, use an older checkpoint");
  }
}

}  // namespace
}  // namespace trainer::archive
