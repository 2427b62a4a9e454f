// SPDX-License-Identifier: Apache-2.0

#include "trainer/base/io/optional_library.h"

#include <algorithm>

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

TEST(LoadedLibrariesTest, HaveTheCoreLibraryAmongThem) {
  const std::filesystem::path core = library_folder() / library_file_name("trainer_core");
  const std::vector<std::filesystem::path> loaded = loaded_libraries();
  EXPECT_NE(std::find(loaded.begin(), loaded.end(), std::filesystem::canonical(core)), loaded.end())
      << core;
}

}  // namespace

}  // namespace trainer
