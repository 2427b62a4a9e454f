// SPDX-License-Identifier: Apache-2.0

#include "trainer/base/io/read_text.h"

#include <cerrno>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "support/error_of.h"
#include "support/temporary_folder.h"

namespace trainer {
namespace {

TEST(ReadTextTest, GivesAllOfAFile) {
  const test::TemporaryFolder folder;
  const std::string text = std::string(200'000, 'a') + '\0' + "b\n";
  EXPECT_EQ(read_text(folder.write("f", text)), text);
  EXPECT_EQ(read_text(folder.write("e", "")), "");
}

TEST(ReadTextTest, WhatIsNotThereHasNoText) {
  const test::TemporaryFolder folder;
  EXPECT_EQ(read_text(folder.path() / "f"), std::nullopt);
  EXPECT_EQ(read_text(folder.write("e", "") / "f"), std::nullopt);
}

TEST(ReadTextTest, WhatCannotBeReadIsRefusedWithTheReason) {
  const test::TemporaryFolder folder;
  const Error of_file = test::error_of([&] { read_text(folder.path()); });
  EXPECT_EQ(of_file.kind(), ErrorKind::kFileSystem);
  EXPECT_EQ(of_file.what(), folder.path().string() + ": cannot be read: Is a directory");
  const Error of_kind =
      test::error_of([&] { read_text(folder.path(), ErrorKind::kUsage, "no settings"); });
  EXPECT_EQ(of_kind.kind(), ErrorKind::kUsage);
  EXPECT_EQ(of_kind.what(), folder.path().string() + ": no settings: Is a directory");
}

TEST(UntilDoneTest, ACallThatASignalInterruptsIsMadeAgain) {
  int num_calls = 0;
  const int result = until_done([&] {
    errno = EINTR;
    return ++num_calls < 3 ? -1 : 7;
  });
  EXPECT_EQ(result, 7);
  EXPECT_EQ(num_calls, 3);
}

TEST(UntilDoneTest, AnotherErrorIsReturnedAtOnce) {
  int num_calls = 0;
  const int result = until_done([&] {
    ++num_calls;
    errno = ENOSPC;
    return -1;
  });
  EXPECT_EQ(result, -1);
  EXPECT_EQ(errno, ENOSPC);
  EXPECT_EQ(num_calls, 1);
}

}  // namespace

}  // namespace trainer
