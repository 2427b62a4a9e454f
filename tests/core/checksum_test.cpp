// SPDX-License-Identifier: Apache-2.0
#include "trainer/core/checksum.h"

#include <string_view>

#include <gtest/gtest.h>

namespace trainer {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

TEST(ChecksumTest, GivesTheCheckValueOfTheStandard) {
  EXPECT_EQ(crc32(bytes_of("123456789")), 0xCBF43926U);
}

TEST(ChecksumTest, GivesZeroForNothing) { EXPECT_EQ(crc32({}), 0U); }

TEST(ChecksumTest, ContinuesFromAnEarlierPart) {
  EXPECT_EQ(crc32(bytes_of("56789"), crc32(bytes_of("1234"))), crc32(bytes_of("123456789")));
}

TEST(ChecksumTest, IsNotChangedByAnEmptyPart) { EXPECT_EQ(crc32({}, 0xCBF43926U), 0xCBF43926U); }

}  // namespace
}  // namespace trainer
