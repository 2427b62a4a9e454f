// SPDX-License-Identifier: Apache-2.0

#include "trainer/base/io/optional_library.h"

#include <gtest/gtest.h>

namespace trainer {
namespace {

TEST(ExecutablePathTest, IsTheFileOfThisTest) {
  EXPECT_EQ(executable_path().filename(), "core_tests");
  EXPECT_TRUE(std::filesystem::is_regular_file(executable_path())) << executable_path();
}

TEST(LibraryFolderTest, HoldsTheCoreLibrary) {
#ifdef __APPLE__
  const char* const library = "libtrainer_core.dylib";
#else
  const char* const library = "libtrainer_core.so";
#endif
  EXPECT_TRUE(std::filesystem::exists(library_folder() / library)) << library_folder();
}

}  // namespace

}  // namespace trainer
