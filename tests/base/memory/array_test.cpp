// SPDX-License-Identifier: Apache-2.0
#include "trainer/base/memory/array.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "trainer/base/memory/process_memory.h"

#include "support/error_of.h"
#include "support/file_size_limit.h"
#include "support/temporary_folder.h"

namespace trainer {
namespace {

using Numbers = std::vector<int64_t>;

TEST(ArrayTest, DoesWhatAVectorDoes) {
  Array<int64_t> array = {1, 2};
  array.push_back(3);
  array.resize(5, 7);
  EXPECT_EQ(array, (Numbers{1, 2, 3, 7, 7}));
  array.resize(1);
  const Numbers more = {4, 5};
  array.append(more.begin(), more.end());
  EXPECT_EQ(array, (Numbers{1, 4, 5}));
  EXPECT_EQ(array.front(), 1);
  EXPECT_EQ(array.back(), 5);
  array.clear();
  EXPECT_TRUE(array.empty());
}

TEST(ArrayTest, CopiesAndMoves) {
  Array<int64_t> array = {1, 2};
  Array<int64_t> copy = array;
  copy[0] = 9;
  EXPECT_EQ(array, (Numbers{1, 2}));
  array = std::move(copy);
  EXPECT_EQ(array, (Numbers{9, 2}));
  const Array<int64_t> taken = std::move(array);
  EXPECT_EQ(taken, (Numbers{9, 2}));
  EXPECT_EQ(Array<int64_t>(2, 5), (Numbers{5, 5}));
}

/// Grows an array from a few bytes to many, element by element.
Array<int64_t> counted_to(int64_t size) {
  Array<int64_t> array;
  for (int64_t i = 0; i < size; ++i) array.push_back(i);
  return array;
}

Numbers numbers_to(int64_t size) {
  Numbers numbers(static_cast<size_t>(size));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

constexpr int64_t kLarge = 1'000'000;  // of 8 bytes: mapped, and moved several times

TEST(ArrayTest, KeepsItsElementsWhileItGrows) {
  EXPECT_TRUE(counted_to(kLarge) == numbers_to(kLarge));
}

/// Arrays are in files of this folder as long as this lives.
class ArrayFolder {
 public:
  ArrayFolder() { keep_arrays_in(folder_.path()); }
  ~ArrayFolder() { keep_arrays_in(""); }
  ArrayFolder(const ArrayFolder&) = delete;
  ArrayFolder& operator=(const ArrayFolder&) = delete;

  const std::filesystem::path& path() const { return folder_.path(); }

 private:
  test::TemporaryFolder folder_;
};

TEST(ArrayTest, InAFileItKeepsItsElementsWhileItGrows) {
  const ArrayFolder folder;
  EXPECT_TRUE(counted_to(kLarge) == numbers_to(kLarge));
}

TEST(ArrayTest, FilesHaveNoNames) {
  const ArrayFolder folder;
  const Array<int64_t> array(kLarge, 1);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(ArrayTest, InAFileTakesNoMemoryOfTheProcess) {
  constexpr int64_t kBytes = 64 << 20;
  const auto taken = [] {
    const int64_t before = process_memory().anonymous;
    const Array<uint8_t> array(kBytes, 1);
    return process_memory().anonymous - before;
  };
  if (process_memory().anonymous == 0) GTEST_SKIP() << "the system does not tell";
  EXPECT_GT(taken(), kBytes / 2);
  const ArrayFolder folder;
  EXPECT_LT(taken(), kBytes / 16);
}

TEST(ArrayTest, SaysWhereItsFileDoesNotFit) {
  const ArrayFolder folder;
  keep_arrays_in(folder.path() / "none");
  EXPECT_EQ(test::message_of(ErrorKind::kFileSystem, [] { const Array<int64_t> array(kLarge, 1); }),
            "cannot create a file in " + (folder.path() / "none").string() +
                ": No such file or directory");
  keep_arrays_in(folder.path());
  const test::FileSizeLimit limit(4 << 20);
  EXPECT_EQ(test::message_of(ErrorKind::kFileSystem, [] { const Array<int64_t> array(kLarge, 1); }),
            "an array of 8.0 MiB does not fit in " + folder.path().string() +
                ": File too large; choose another folder with data.cache");
}

TEST(ArrayTest, SeesWhatIsMappedElsewhere) {
  auto owner = std::make_shared<Numbers>(Numbers{1, 2, 3});
  const std::weak_ptr<Numbers> alive = owner;
  {
    int64_t* data = owner->data();
    Array<int64_t> view(ArrayMemory(std::move(owner), data, 3 * sizeof(int64_t)), 3);
    EXPECT_EQ(view.data(), data);
    EXPECT_EQ(view, (Numbers{1, 2, 3}));
    const Array<int64_t> copy = view;
    EXPECT_NE(copy.data(), data);
    view.push_back(4);  // of its own from now on
    EXPECT_NE(view.data(), data);
    EXPECT_EQ(view, (Numbers{1, 2, 3, 4}));
    EXPECT_TRUE(alive.expired());
  }
}

}  // namespace
}  // namespace trainer
