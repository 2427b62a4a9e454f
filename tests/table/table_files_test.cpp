// SPDX-License-Identifier: Apache-2.0
// Tables of several files, and packed ones.
#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "trainer/base/error.h"
#include "trainer/base/time/long_work.h"
#include "trainer/table/source/inspect.h"
#include "trainer/table/source/npy.h"
#include "trainer/table/source/table_reader.h"
#include "trainer/table/source/table_source.h"

#include "support/data_folder.h"

namespace trainer::data {
namespace {

using Words = std::vector<std::string>;
using Floats = std::vector<float>;

const Words kFileTargets = {"y"};

class TableFilesTest : public test::DataFolderTest {
 protected:
  Table read(const std::string& name) const {
    return read_table({folder_.path() / name}, {.targets = kFileTargets});
  }

  std::string problem(const std::string& name) const {
    return message_of([&] { read(name); });
  }

  static const Array<float>& cells(const Table& table) {
    return std::get<Array<float>>(table.features.values);
  }
};

TEST_F(TableFilesTest, APatternIsAllFilesInTheOrderOfTheirNames) {
  folder_.write("part-10.csv", "a,c,y\n3,x,0\n4,z,1\n");
  folder_.write("part-02.csv", "a,c,y\n1,w,0\n");
  folder_.write("part-03.csv", "a,c,y\n2,x,1\n");
  folder_.write("other.csv", "b\n");
  const Table table = read("part-*.csv");
  EXPECT_EQ(cells(table), (Floats{1, 0, 2, 1, 3, 1, 4, 2}));
  EXPECT_EQ(table.dictionaries[1], (Words{"w", "x", "z"}));
  EXPECT_FALSE(table.has_lines);
  EXPECT_EQ(table.lines, (std::vector<int64_t>{1, 2, 3, 4}));
  EXPECT_EQ(table.file, folder_.path() / "part-*.csv");
  ASSERT_EQ(table.fingerprints.size(), 3U);
  EXPECT_EQ(table.fingerprints[0], fingerprint(folder_.path() / "part-02.csv"));
  EXPECT_EQ(table.fingerprints[2], fingerprint(folder_.path() / "part-10.csv"));
}

TEST_F(TableFilesTest, TheListenerIsToldWhatPartIsRead) {
  std::string rows;
  for (int i = 0; i < 20'000; ++i) rows += "1,0\n2,1\n";
  folder_.write("a.csv", "a,y\n" + rows);
  folder_.write("b.csv", "a,y\n" + rows);
  std::vector<double> parts;
  listen_to_long_work([&](std::string_view name, double part) {
    EXPECT_EQ(name, "reading the table");
    parts.push_back(part);
  });
  read("*.csv");
  folder_.write("bad.csv", "a,y\n1\n");
  EXPECT_THROW(read("bad.csv"), Error);
  listen_to_long_work({});
  ASSERT_EQ(parts.size(), 23U);  // one in 4,096 rows and one at the end; and two of bad.csv
  EXPECT_TRUE(std::is_sorted(parts.begin(), parts.begin() + 20));
  EXPECT_GT(parts[0], 0);
  EXPECT_LT(parts[19], 1);
  EXPECT_EQ(parts[20], 1);
  EXPECT_EQ(parts.back(), 1);
}

TEST_F(TableFilesTest, AFolderIsAllTablesInIt) {
  folder_.write("sales/b.csv", "a,y\n2,1\n");
  folder_.write("sales/a.csv", "a,y\n1,0\n");
  folder_.write("sales/.hidden.csv", "z\n");
  folder_.write("sales/README.md", "about\n");
  std::filesystem::create_directory(folder_.path() / "sales/older.csv");
  EXPECT_EQ(cells(read("sales")), (Floats{1, 2}));
  EXPECT_EQ(inspect_table({folder_.path() / "sales"}).num_rows, 2);
}

TEST_F(TableFilesTest, AFileWithSuchANameIsThatFile) {
  folder_.write("a[1].csv", "a,y\n7,1\n");
  folder_.write("a1.csv", "a,y\n8,1\n");
  EXPECT_EQ(cells(read("a[1].csv")), Floats{7});
}

TEST_F(TableFilesTest, WhatAColumnIsMayShowInAnotherFile) {
  folder_.write("t/1.csv", "a,b,y\n1,,0\n");
  folder_.write("t/2.csv", "a,b,y\n2,x,1\n3,x,1\n");
  const Table table = read("t");
  EXPECT_EQ(table.columns[1].kind, ColumnKind::kCategorical);
  EXPECT_EQ(table.num_missing, (std::vector<int64_t>{0, 1}));
}

TEST_F(TableFilesTest, PiecesGoOnInTheNextFile) {
  folder_.write("t/1.csv", "a,b\n1,2\n3,4\n");
  folder_.write("t/2.csv", "a,b\n5,x\n7,8\n");
  const std::vector<Column> columns = {{.name = "b", .fill = 0.0F}};
  TableReader pieces({folder_.path() / "t"}, {.columns = columns, .targets = {}});
  Table table;
  std::vector<BadRow> bad;
  Floats all;
  while (pieces.next(table, 1, bad))
    all.insert(all.end(), cells(table).begin(), cells(table).end());
  EXPECT_EQ(all, (Floats{2, 4, 8}));
  ASSERT_EQ(bad.size(), 1U);
  EXPECT_EQ(bad[0].line, 3);
  EXPECT_EQ(bad[0].reason,
            "column \"b\": expected a number, got \"x\"; correct it: the column was numeric in the "
            "training data");
  EXPECT_EQ(pieces.bytes_read(), pieces.size_hint());
}

TEST_F(TableFilesTest, MessagesNameTheFileAndItsLine) {
  folder_.write("t/1.csv", "a,y\n1,0\n");
  folder_.write("t/2.csv", "a,y\n\nx,1\n");
  EXPECT_EQ(problem("t"),
            "t/2.csv:3: column \"a\": expected a number, got \"x\"; correct it, add it to "
            "data.missing, or list the column in data.categorical or data.ignore");
  folder_.write("t/2.csv", "a,z,y\n1,2,3\n");
  EXPECT_EQ(problem("t"),
            "t/2.csv:1: expected the columns of t/1.csv in the same order, with \"y\" in position "
            "2, got \"z\"");
}

TEST_F(TableFilesTest, WhatIsNoTableIsExplained) {
  EXPECT_EQ(problem("*.csv"), "*.csv: no file matches this pattern");
  folder_.write("sub/notes.md", "");
  EXPECT_EQ(problem("sub"),
            "sub: expected a file, or a folder with tables (.csv, .tsv, .parquet, .json or "
            ".jsonl), got a folder without any");
  folder_.write("sub/a.csv", "");
  folder_.write("sub/b.parquet", "");
  EXPECT_EQ(problem("sub"),
            "sub: expected files of one kind, got \"sub/a.csv\" and \"sub/b.parquet\"; choose some "
            "with a pattern such as *.csv");
  folder_.write("t/1.csv", "a,y\n1,0\n");
  folder_.write("t/2.csv", "");
  EXPECT_EQ(problem("t"), "t/2.csv: the file is empty");
}

TEST_F(TableFilesTest, WhatIsNoTableIsToldByItsFirstBytes) {
  const std::vector<std::pair<std::string, std::string>> kinds = {
      {std::string("ARROW1\0\0\xFF\xFF\xFF\xFF", 12),
       "an Arrow file; write the table as Parquet, in Python with "
       "pandas.read_feather(...).to_parquet(...)"},
      {std::string("PK\x03\x04\x14\0\6\0", 8),
       "a ZIP archive, as workbooks of Excel (.xlsx) are; save a sheet as CSV (in Excel: File, "
       "Save "
       "As, CSV UTF-8), or unpack the archive"},
      {"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1",
       "a workbook of Excel (.xls); save the sheet as CSV (in Excel: File, Save As, CSV UTF-8)"},
      {"BZh11AY&SY", "packed with bzip2; unpack it first, or pack the table with gzip or zstd"},
      {"\xFD\x37zXZ", "packed with xz; unpack it first, or pack the table with gzip or zstd"},
      {"version https://git-lfs.github.com/spec/v1\n",
       "a pointer of Git LFS, not the file itself; fetch the file with: git lfs pull"},
      {"\n<!DOCTYPE html>",
       "a page of the web (HTML), not a table; download the file itself, not the page that shows "
       "it"}};
  for (const auto& [begin, what] : kinds) {
    folder_.write("t.csv", begin);
    EXPECT_EQ(problem("t.csv"), "t.csv: this is " + what);
  }
  folder_.write("x.npy", "version https://git-lfs.github.com/spec/v1\n");
  EXPECT_EQ(
      message_of([&] { read_npy(folder_.path() / "x.npy"); }),
      "x.npy: this is a pointer of Git LFS, not the file itself; fetch the file with: git lfs "
      "pull");
}

TEST_F(TableFilesTest, AFolderTellsWhatItLeavesOut) {
  folder_.write("d/a.csv", "a,y\n1,0\n");
  EXPECT_EQ(describe_files(folder_.path() / "d"),
            Words{(folder_.path() / "d").string() + ": 1 file read: \"a.csv\""});
  folder_.write("d/b.csv.bz2", "");
  folder_.write("d/part-00001", "");
  EXPECT_EQ(describe_files(folder_.path() / "d")[1],
            (folder_.path() / "d").string() +
                ": left out, as their names are not those of tables (.csv, .tsv, .txt, .parquet, "
                ".json, .jsonl or .sqlite, also before .gz or .zst): \"b.csv.bz2\" and "
                "\"part-00001\"");
  EXPECT_EQ(describe_files(folder_.path() / "d/a.csv"), Words{});
}

TEST_F(TableFilesTest, ALinkToNothingInAFolderIsAnError) {
  folder_.write("d/a.csv", "a,y\n1,0\n");
  std::filesystem::create_symlink("missing.csv", folder_.path() / "d/b.csv");
  EXPECT_EQ(problem("d"), problem("d/b.csv"));
  EXPECT_NE(problem("d"), "");
}

// A frame whose one block holds the content as it is (RFC 8878, 3.1.1).
std::string zstd_frame(std::string_view content) {
  const auto size = static_cast<unsigned>(content.size());
  const unsigned block = size << 3U | 1U;  // the last one, raw
  std::string frame = "\x28\xB5\x2F\xFD\x20";
  for (const unsigned byte : {size, block, block >> 8U, block >> 16U}) {
    frame += static_cast<char>(byte & 0xFFU);
  }
  return frame.append(content);
}

class ZstdTest : public TableFilesTest {
 protected:
  void SetUp() override {
    folder_.write("t.csv.zst", zstd_frame("a,y\n1,0\n"));
    try {
      read("t.csv.zst");
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
  }
};

TEST_F(ZstdTest, ItIsUnpacked) {
  folder_.write("t.csv.zst", zstd_frame("a,y\n1,0\n2") + zstd_frame(",1\n"));
  EXPECT_EQ(cells(read("t.csv.zst")), (Floats{1, 2}));
  folder_.write("t.tsv.zst", zstd_frame("a\ty\n1\t0\n"));
  EXPECT_EQ(csv_delimiter("auto", "t.tsv.zst"), '\t');
}

TEST_F(ZstdTest, ADamagedFileIsNoShorterTable) {
  const std::string whole = zstd_frame("a,y\n1,0\n2,1\n");
  for (size_t size = 2; size < whole.size(); ++size) {
    folder_.write("t.csv.zst", whole.substr(0, size));
    EXPECT_EQ(problem("t.csv.zst"),
              "t.csv.zst: the zstd file is truncated; download or copy it again");
  }
  folder_.write("t.csv.zst", whole + "more");
  EXPECT_EQ(problem("t.csv.zst"), "t.csv.zst: the zstd file is damaged; download or copy it again");
}

}  // namespace
}  // namespace trainer::data
