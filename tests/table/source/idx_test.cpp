// SPDX-License-Identifier: Apache-2.0
#include "trainer/table/source/idx.h"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "support/data_folder.h"
#include "support/files.h"
#include "support/gzip.h"
#include "support/idx.h"
#include "support/temporary_folder.h"

namespace trainer::data {
namespace {

using Bytes = std::vector<uint8_t>;

using test::idx_file;
using test::read_file;

class IdxTest : public test::DataFolderTest {
 protected:
  std::filesystem::path write_gzip(const std::string& name, const std::string& content) {
    return folder_.write(name, test::gzipped(content));
  }

  std::string problem_of(const std::filesystem::path& path) {
    return message_of([&] { read_idx(path); });
  }
  std::string problem(std::string_view content) { return problem_of(folder_.write("f", content)); }
  std::string pair_problem(std::string_view images, std::string_view labels) {
    const auto image_path = folder_.write("images", images);
    const auto label_path = folder_.write("labels", labels);
    return message_of([&] { read_idx_pair(image_path, label_path); });
  }
};

TEST_F(IdxTest, ReadsPlainAndGzippedFilesByTheirContent) {
  const std::string content = idx_file({2, 1, 3}, "abcdef");
  for (const auto& path : {folder_.write("plain.gz", content), write_gzip("packed", content)}) {
    const IdxFile file = read_idx(path);
    EXPECT_EQ(file.sizes, (std::vector<int64_t>{2, 1, 3}));
    EXPECT_EQ(file.bytes, (Bytes{'a', 'b', 'c', 'd', 'e', 'f'}));
  }
}

TEST_F(IdxTest, ReadsGzipFilesOfSeveralMembersAndWhatFollowsThem) {
  const std::string content = idx_file({400'000}, std::string(400'000, 'x'));
  std::string packed;
  for (const size_t begin : {size_t{0}, size_t{5}, size_t{300'000}}) {
    const size_t end = begin == 0 ? 5 : begin == 5 ? 300'000 : content.size();
    packed += test::gzipped(content.substr(begin, end - begin));
  }
  for (const char* rest : {"", "no member"}) {
    EXPECT_EQ(read_idx(folder_.write("f", packed + rest)).bytes.size(), 400'000U);
  }
}

TEST_F(IdxTest, TakesTheFingerprintOfTheFileItReads) {
  const std::string content = idx_file({300'000}, std::string(300'000, 'x'));
  for (const auto& path : {folder_.write("plain", content), write_gzip("packed", content),
                           folder_.write("more", test::gzipped(content) + "rest")}) {
    const Fingerprint taken = read_idx(path).fingerprint;
    const Fingerprint expected = fingerprint(path);
    EXPECT_EQ(taken.path, path.string());
    EXPECT_EQ(taken.num_bytes, std::filesystem::file_size(path));
    EXPECT_EQ(taken.crc32, expected.crc32);
  }
}

TEST_F(IdxTest, ReadsFilesThatShrankVeryMuch) {
  const std::string zeros(3'000'000, '\0');
  EXPECT_EQ(read_idx(write_gzip("zeros", idx_file({3'000'000}, zeros))).bytes.size(), zeros.size());
}

TEST_F(IdxTest, ReadsImagesAndLabelsIntoATable) {
  const Table table =
      read_idx_pair(folder_.write("images", idx_file({2, 1, 2}, "\x01\x02\x03\xFF")),
                    folder_.write("labels", idx_file({2}, "\x09\x0A")));
  EXPECT_EQ(table.file, (folder_.path() / "labels").string());
  EXPECT_EQ(table.feature_names, (std::vector<std::string>{"pixel_0_0", "pixel_0_1"}));
  EXPECT_EQ(table.features.num_rows, 2);
  EXPECT_EQ(table.features.num_columns, 2);
  EXPECT_EQ(std::get<Array<uint8_t>>(table.features.values), (Bytes{1, 2, 3, 255}));
  EXPECT_EQ(table.target_names.front(), "label");
  EXPECT_EQ(table.targets, (TargetCells{"9", "10"}));
}

TEST_F(IdxTest, ReadsFlatImages) {
  const Table table = read_idx_pair(folder_.write("images", idx_file({1, 2}, "ab")),
                                    folder_.write("labels", idx_file({1}, "\x01")));
  EXPECT_EQ(table.feature_names, (std::vector<std::string>{"pixel_0", "pixel_1"}));
}

TEST_F(IdxTest, ReadsFashionMnist) {
  const std::filesystem::path folder = "/usr/share/datasets/fashion-mnist";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "dataset-fashion-mnist is not installed";
  const Table table =
      read_idx_pair(folder / "t10k-images-idx3-ubyte.gz", folder / "t10k-labels-idx1-ubyte.gz");
  EXPECT_EQ(table.features.num_rows, 10'000);
  EXPECT_EQ(table.features.num_columns, 784);
  EXPECT_EQ(table.targets.text(0), "9");  // an ankle boot
}

TEST_F(IdxTest, RefusesWhatIsNoFile) {
  EXPECT_EQ(problem_of(folder_.path() / "absent"), "absent: no such file");
  std::filesystem::create_directory(folder_.path() / "sub");
  EXPECT_EQ(problem_of(folder_.path() / "sub"), "sub: is a folder, expected a file");
}

TEST_F(IdxTest, RefusesAnEmptyFile) { EXPECT_EQ(problem(""), "f: the file is empty"); }

TEST_F(IdxTest, RefusesAnotherFormat) {
  EXPECT_EQ(problem("a,b,c\n1,2,3\n"),
            "f: not an IDX file: expected the first bytes 00 00 08, got 61 2c 62 2c");
  EXPECT_EQ(problem(std::string_view("\0\0", 2)),
            "f: not an IDX file: expected the first bytes 00 00 08, got 00 00");
  EXPECT_EQ(problem_of(write_gzip("f.gz", "text")),
            "f.gz: not an IDX file: expected the first bytes 00 00 08, got 74 65 78 74");
}

TEST_F(IdxTest, RefusesOtherElementTypes) {
  EXPECT_EQ(problem(std::string_view("\0\0\x0D\x01\0\0\0\0", 8)),
            "f: element type 0x0d is not supported; only unsigned bytes (0x08) are supported");
}

TEST_F(IdxTest, RefusesAFileWithoutDimensions) {
  EXPECT_EQ(problem(std::string_view("\0\0\x08\0", 4)),
            "f: expected at least one dimension, got 0");
}

TEST_F(IdxTest, RefusesAFileThatIsCutOff) {
  EXPECT_EQ(problem(std::string_view("\0\0\x08\x03\0\0", 6)),
            "f: the file ends within its header; it is truncated");
  EXPECT_EQ(problem(idx_file({2, 3, 1000}, "abc")),
            "f: truncated: the header specifies 6,000 elements (2 x 3 x 1,000), the file has 3");
}

TEST_F(IdxTest, RefusesBytesAfterTheEnd) {
  EXPECT_EQ(problem(idx_file({1, 2}, "abc")),
            "f: trailing bytes after the 2 elements of the header (1 x 2)");
}

TEST_F(IdxTest, RefusesSizesThatNoFileHasWithoutTakingTheMemory) {
  EXPECT_EQ(problem(idx_file({4'000'000'000, 1000, 1000}, "abc")),
            "f: truncated: the header specifies 4,000,000,000,000,000 elements (4,000,000,000 x "
            "1,000 x 1,000), the file has 3");
  EXPECT_EQ(problem(idx_file({4'000'000'000, 4'000'000'000, 4'000'000'000}, "abc")),
            "f: invalid sizes 4,000,000,000 x 4,000,000,000 x 4,000,000,000");
}

TEST_F(IdxTest, RefusesDamagedGzip) {
  const std::string content = idx_file({1000}, std::string(1000, 'x'));
  const auto path = write_gzip("good.gz", content);
  const std::string packed = read_file(path);
  std::string damaged = packed;
  damaged[damaged.size() - 6] = static_cast<char>(damaged[damaged.size() - 6] ^ 1);  // its CRC
  EXPECT_EQ(problem(damaged), "f: the gzip file is damaged; download or copy it again");
  for (const size_t missing : {size_t{1}, size_t{9}, packed.size() - 2}) {
    EXPECT_EQ(problem(packed.substr(0, packed.size() - missing)),
              "f: the gzip file is truncated; download or copy it again");
  }
}

TEST_F(IdxTest, RefusesAnotherNumberOfLabelsThanImages) {
  EXPECT_EQ(pair_problem(idx_file({2, 1, 1}, "ab"), idx_file({3}, "abc")),
            "labels: 3 labels, but 2 images in images");
}

TEST_F(IdxTest, RefusesImagesAndLabelsInTheWrongPlaces) {
  EXPECT_EQ(pair_problem(idx_file({2}, "ab"), idx_file({2, 1, 1}, "ab")),
            "images: expected images in 2 or 3 dimensions, got 1; check that images and labels are "
            "not swapped");
  EXPECT_EQ(pair_problem(idx_file({2, 1, 1, 1}, "ab"), idx_file({2}, "ab")),
            "images: expected images in 2 or 3 dimensions, got 4");
  EXPECT_EQ(pair_problem(idx_file({2, 1}, "ab"), idx_file({2, 1}, "ab")),
            "labels: expected labels in 1 dimension, got 2");
}

TEST_F(IdxTest, RefusesNoImages) {
  EXPECT_EQ(pair_problem(idx_file({0, 28, 28}, ""), idx_file({0}, "")),
            "images: no images: the sizes are 0 x 28 x 28");
}

}  // namespace
}  // namespace trainer::data
