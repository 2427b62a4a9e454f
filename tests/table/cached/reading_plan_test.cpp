// SPDX-License-Identifier: Apache-2.0
#include "trainer/table/cached/reading_plan.h"

#include <chrono>
#include <filesystem>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "trainer/base/memory/process_memory.h"
#include "trainer/base/text/format.h"
#include "trainer/config/data_config.h"
#include "trainer/table/duckdb/query.h"

#include "support/datasets.h"
#include "support/error_of.h"

namespace trainer::cache {
namespace {

namespace fs = std::filesystem;
using Lines = std::vector<std::string>;

class ReadingPlanTest : public test::DatasetFolderTest {
 protected:
  // A file of `num_bytes`, only the first rows of which are there.
  config::DataConfig table(uint64_t num_bytes) {
    std::string text = "a,b,k,y\n";
    for (int row = 0; row < 100'000; ++row) {
      text += fmt::format("{},{},k{},{}\n", 10 + row % 7, 20 + row % 5, row % 3, row % 2);
    }
    folder_.write("t.csv", text);
    config::DataConfig data;
    data.source = config::Source::kCsv;
    data.path = (folder_.path() / "t.csv").string();
    data.target = {"y"};
    data.cache = (folder_.path() / "kept").string();
    fs::resize_file(data.path, num_bytes);
    fs::last_write_time(data.path, fs::file_time_type::clock::now() - std::chrono::hours(1));
    return data;
  }
};

constexpr uint64_t kMiB = uint64_t{1} << 20;

TEST_F(ReadingPlanTest, SaysWhatALargeTableWillTakeAndWhere) {
  config::DataConfig data = table(66 * kMiB);
  const Lines cached = reading_plan(data, 1);
  ASSERT_EQ(cached.size(), 3U);
  EXPECT_EQ(cached[0],
            "66.0 MiB of files: about 6,290,000 rows of 3 features, which take at least 144.0 MiB "
            "encoded");
  EXPECT_TRUE(cached[1].starts_with("to be kept in " + data.cache + "/t-")) << cached[1];
  EXPECT_TRUE(cached[2].starts_with("free: ")) << cached[2];
  EXPECT_TRUE(cached[2].ends_with(" of disk")) << cached[2];
  data.cache = "off";
  const Lines resident = reading_plan(data, 1);
  EXPECT_EQ(resident[0], cached[0]);
  EXPECT_EQ(resident[1], "to be kept in memory");
  EXPECT_EQ(resident.size(), available_memory() ? 3U : 2U);
}

TEST_F(ReadingPlanTest, SaysNothingOfSmallTablesAndOtherSources) {
  EXPECT_EQ(reading_plan(table(2 * kMiB), 1), Lines{});
  EXPECT_EQ(reading_plan({}, 1), Lines{});  // synthetic
}

TEST_F(ReadingPlanTest, KnowsTheRowsOfParquetFiles) {
  std::string reason;
  if (!duckdb::is_available(reason)) GTEST_SKIP() << reason;
  config::DataConfig data = table(2 * kMiB);
  data.path = (folder_.path() / "t.parquet").string();
  duckdb::execute({.name = "test",
                   .sql = "COPY (SELECT random() AS a, random() AS b, random() AS y FROM "
                          "range(2000000)) TO " +
                          duckdb::quoted_text(data.path) + " (COMPRESSION uncompressed)"});
  EXPECT_TRUE(reading_plan(data, 1).front().ends_with(
      " MiB of files: about 2,000,000 rows of 2 features, which take at least 38.1 MiB encoded"))
      << reading_plan(data, 1).front();
}

TEST_F(ReadingPlanTest, RefusesWhatFitsNowhere) {
  config::DataConfig data = table(uint64_t{8} << 40);
  const uint64_t memory = static_cast<uint64_t>(*total_memory());
  const std::string problem = fmt::format(
      "{}: about 800,000,000,000 rows of 3 features need 17.5 TiB, but this machine has {} of "
      "memory",
      data.path, human_bytes(memory));
  const Error cached = test::error_of([&] { reading_plan(data, 1); });
  EXPECT_EQ(cached.kind(), ErrorKind::kOutOfMemory);
  const std::string text = cached.what();
  EXPECT_TRUE(text.starts_with(problem + " and ")) << text;
  EXPECT_TRUE(
      text.ends_with(fmt::format(" are free in {}; choose another folder with data.cache, "
                                 "or choose fewer rows or columns (data.query, data.ignore)",
                                 data.cache)))
      << text;
  data.cache = "off";
  const Error resident = test::error_of([&] { reading_plan(data, 1); });
  EXPECT_EQ(resident.kind(), ErrorKind::kOutOfMemory);
  EXPECT_EQ(resident.what(),
            problem +
                "; name a folder with as much space in data.cache, or choose fewer rows or "
                "columns (data.query, data.ignore)");
}

}  // namespace
}  // namespace trainer::cache
