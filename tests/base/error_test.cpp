// SPDX-License-Identifier: Apache-2.0

#include "trainer/base/error.h"

#include <filesystem>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include <gtest/gtest.h>

namespace trainer {
namespace {

template <class Run>
Error error_from(const Run& run) {
  try {
    run();
  } catch (const std::exception& e) {
    return as_error(e);
  }
  return {ErrorKind::kRuntime, "nothing was thrown"};
}

TEST(ExceptionsTest, AnErrorStaysWhatItIs) {
  const Error error = error_from([] { throw Error(ErrorKind::kData, "x"); });
  EXPECT_EQ(error.kind(), ErrorKind::kData);
  EXPECT_STREQ(error.what(), "x");
}

TEST(ExceptionsTest, MemoryThatRanOutIsOneKind) {
  const std::string text = "out of memory; use a smaller model, batch size or data file";
  for (const Error& error : {error_from([] { throw std::bad_alloc(); }), error_from([] {
                               std::vector<int>().reserve(std::vector<int>().max_size() + 1);
                             })}) {
    EXPECT_EQ(error.kind(), ErrorKind::kOutOfMemory);
    EXPECT_EQ(error.what(), text);
  }
}

TEST(ExceptionsTest, AFileHasItsPathAndTheReason) {
  const std::string name(300, 'n');
  const Error error = error_from([&] { static_cast<void>(std::filesystem::is_directory(name)); });
  EXPECT_EQ(error.kind(), ErrorKind::kFileSystem);
  EXPECT_EQ(error.what(), name + ": File name too long");
  const Error without = error_from([] {
    throw std::filesystem::filesystem_error("x",
                                            std::make_error_code(std::errc::permission_denied));
  });
  EXPECT_STREQ(without.what(), "file system: Permission denied");
}

TEST(ExceptionsTest, AThreadThatCannotBeStartedIsMemory) {
  const Error error = error_from([] {
    throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
  });
  EXPECT_EQ(error.kind(), ErrorKind::kOutOfMemory);
  EXPECT_EQ(error_from([] { throw std::runtime_error("y"); }).kind(), ErrorKind::kRuntime);
}

}  // namespace

}  // namespace trainer
