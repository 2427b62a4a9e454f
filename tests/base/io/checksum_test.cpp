// SPDX-License-Identifier: Apache-2.0
#include "trainer/base/io/checksum.h"

#include <gtest/gtest.h>

#include "support/bytes.h"

namespace trainer {
namespace {

using test::bytes_of;

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
