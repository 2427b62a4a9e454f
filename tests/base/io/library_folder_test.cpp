// SPDX-License-Identifier: Apache-2.0
#include "trainer/base/io/library_folder.h"

#include <gtest/gtest.h>

namespace trainer {
namespace {

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
