// SPDX-License-Identifier: Apache-2.0

#include "trainer/table/cached/load.h"

#include <signal.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <future>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "trainer/base/archive/archive.h"
#include "trainer/base/io/atomic_file.h"
#include "trainer/base/io/folder_lock.h"
#include "trainer/base/memory/process_memory.h"
#include "trainer/base/text/format.h"
#include "trainer/config/data_config.h"
#include "trainer/table/duckdb/query.h"
#include "trainer/table/row_checks.h"

#include "support/asleep.h"
#include "support/child.h"
#include "support/datasets.h"
#include "support/error_of.h"
#include "support/file_size_limit.h"
#include "support/files.h"
#include "support/unprivileged.h"
#include "table/cached/cache_key.h"
#include "table/cached/stored_datasets.h"

namespace trainer::cache {
namespace {

namespace fs = std::filesystem;
using config::DataConfig;
using data::Dataset;
using data::Datasets;

// Files are kept only if their last change is seconds ago.
void make_old(const fs::path& file, std::chrono::hours age = std::chrono::hours(1)) {
  fs::last_write_time(file, fs::file_time_type::clock::now() - age);
}

std::string small_table(int num_rows) {
  std::string text = "a,k,w,y\n";
  for (int row = 0; row < num_rows; ++row) {
    text +=
        fmt::format("{},k{},{},{}\n", row * 7 % 31, row % 3, 1 + row % 2, row % 5 == 0 ? "p" : "q");
  }
  return text;
}

bool equal(const Dataset& a, const Dataset& b) {
  return a.features.num_rows == b.features.num_rows &&
         a.features.num_columns == b.features.num_columns &&
         a.features.values == b.features.values && a.classes == b.classes && a.values == b.values &&
         a.source_lines == b.source_lines && a.weights == b.weights && a.targets == b.targets;
}

// Less the warnings, some of which are about the cache.
bool equal(const Datasets& a, const Datasets& b) {
  return equal(a.train, b.train) && equal(a.validation, b.validation) && equal(a.test, b.test) &&
         a.schema == b.schema && a.fingerprints == b.fingerprints &&
         a.task_reason == b.task_reason && a.num_without_target == b.num_without_target &&
         a.num_weightless == b.num_weightless && a.notes == b.notes &&
         a.num_column_notes == b.num_column_notes && a.target_copies == b.target_copies;
}

void require_all(const Datasets& datasets) {
  for (const Dataset* split : {&datasets.train, &datasets.validation, &datasets.test}) {
    data::require_intact(*split);
  }
}

class CacheTest : public test::DatasetFolderTest {
 protected:
  // With a weight and all three splits.
  DataConfig cached(int num_rows = 40) const {
    DataConfig data = table(small_table(num_rows));
    make_old(data.path);
    data.weight = "w";
    data.validation_fraction = 0.2;
    data.test_fraction = 0.1;
    data.cache = root().string();
    return data;
  }

  fs::path root() const { return folder_.path() / "cache"; }
  fs::path entry() const { return *fs::directory_iterator(root()); }
  std::string written() const { return "written to " + entry().string() + size(); }
  std::string mapped() const { return "mapped from " + entry().string() + size(); }
  std::string size() const {
    return fmt::format(" ({})", human_bytes(fs::file_size(entry() / "rows.bin")));
  }

  size_t num_entries() const { return fs::exists(root()) ? test::file_names(root()).size() : 0; }
};

TEST_F(CacheTest, TheSecondCallMapsWhatTheFirstHasWritten) {
  const DataConfig data = cached();
  const Datasets expected = data::load_datasets(data, 1);
  const Datasets first = load(data, 1);
  EXPECT_EQ(first.cache, written());
  EXPECT_TRUE(equal(first, expected));
  const Datasets second = load(data, 1);
  EXPECT_EQ(second.cache, mapped());
  EXPECT_TRUE(equal(second, expected));
  EXPECT_EQ(second.warnings, expected.warnings);
  require_all(second);
  EXPECT_EQ(test::file_names(entry()), (std::vector<std::string>{"data.pt", "rows.bin"}));
}

TEST_F(CacheTest, ValuesOfARegressionAreKept) {
  DataConfig data = table("a,y,z\n1,0.5,1\n2,1.5,2\n3,0.25,4\n4,-3,8\n", {"y", "z"});
  make_old(data.path);
  data.task = config::Task::kRegression;
  data.cache = root().string();
  const Datasets expected = load(data, 1);
  EXPECT_TRUE(equal(load(data, 1), expected));
  EXPECT_EQ(expected.train.values.size(), 8U);
}

TEST_F(CacheTest, AnotherKeyOrSeedIsAnotherCache) {
  DataConfig data = cached();
  load(data, 1);
  EXPECT_TRUE(load(data, 2).cache.starts_with("written to "));
  data.scaling = config::ScalingMethod::kMinMax;
  EXPECT_TRUE(load(data, 1).cache.starts_with("written to "));
  EXPECT_EQ(num_entries(), 3U);
}

TEST_F(CacheTest, AFileThatChangedIsReadAgain) {
  const DataConfig data = cached();
  load(data, 1);
  make_old(data.path, std::chrono::hours(2));
  EXPECT_TRUE(load(data, 1).cache.starts_with("written to "));
  std::ofstream(data.path, std::ios::app) << "1,k1,1,p\n";
  make_old(data.path, std::chrono::hours(2));
  const Datasets longer = load(data, 1);
  EXPECT_TRUE(longer.cache.starts_with("written to "));
  EXPECT_TRUE(equal(longer, data::load_datasets(data, 1)));
}

TEST_F(CacheTest, WhatIsNotToBeKeptIsRead) {
  DataConfig data = cached();
  data.cache = "off";
  EXPECT_EQ(load(data, 1).cache, "");
  data.cache = "auto";  // for large tables only
  EXPECT_EQ(load(data, 1).cache, "");
  data.cache = root().string();
  fs::last_write_time(data.path, fs::file_time_type::clock::now());
  EXPECT_EQ(load(data, 1).cache, "") << "a change now would not be seen later";
  EXPECT_EQ(num_entries(), 0U);
}

TEST_F(CacheTest, WritingOneRemovesThoseThatNobodyHasUsedForLong) {
  DataConfig data = cached();
  load(data, 1);
  const fs::path old = entry();
  const std::string old_size =
      human_bytes(fs::file_size(old / "rows.bin") + fs::file_size(old / "data.pt"));
  load(data, 2);
  const auto in_days = [](int days) { return std::chrono::hours(24 * days); };
  for (const fs::directory_entry& one : fs::directory_iterator(root())) make_old(one, in_days(29));
  EXPECT_EQ(load(data, 3).cache.find("removed"), std::string::npos);
  make_old(old, in_days(31));
  EXPECT_TRUE(load(data, 4).cache.ends_with("; removed 1 that was not used for 30 days (" +
                                            old_size + ")"));
  EXPECT_FALSE(fs::exists(old));
  EXPECT_EQ(num_entries(), 3U);
}

TEST_F(CacheTest, UsingACacheKeepsItAndOtherFoldersAreNotTouched) {
  DataConfig data = cached();
  load(data, 1);
  const fs::path used = entry();
  make_old(used, std::chrono::hours(24 * 31));
  load(data, 1);
  for (const char* file : {"photos-12345678/rows.bin", "photos-12345678/a.jpg", "backup/data.pt"}) {
    fs::create_directories((root() / file).parent_path());
    std::ofstream(root() / file) << "of the user";
  }
  for (const char* folder : {"photos-12345678", "backup"}) {
    make_old(root() / folder, std::chrono::hours(24 * 31));
  }
  EXPECT_EQ(load(data, 2).cache.find("removed"), std::string::npos);
  EXPECT_EQ(num_entries(), 4U);
}

TEST_F(CacheTest, WhatIsReadOnceLeavesNothing) {
  const DataConfig data = cached();
  const Datasets once = load_once(data, 1);
  EXPECT_TRUE(equal(once, data::load_datasets(data, 1)));
  EXPECT_EQ(once.cache, "");
  EXPECT_EQ(num_entries(), 0U);
}

TEST_F(CacheTest, ARunThatWasReadInAnotherWayIsReadSoAgain) {
  const DataConfig data = cached();
  data::Schema trained = load(data, 1).schema;
  EXPECT_EQ(load(data, 1, &trained).cache, mapped());
  trained.scaling.shift.front() += 1;
  EXPECT_EQ(load(data, 1, &trained).cache, "");
}

// Either the damage is seen when the cache is opened, or when the rows are used, or the byte means
// nothing.
TEST_F(CacheTest, NothingDamagedIsEverUsed) {
  const DataConfig data = cached(4000);
  const Datasets expected = load(data, 1);
  const CacheKey key = cache_key(data, 1).value();
  std::vector<ErrorKind> kinds;
  for (const char* name : {"data.pt", "rows.bin"}) {
    const fs::path file = entry() / name;
    std::string bytes = test::read_file(file);
    for (size_t at = 0; at < bytes.size(); at += 1 + bytes.size() / 200) {
      bytes[at] = static_cast<char>(bytes[at] ^ 0x10);
      std::ofstream(file, std::ios::binary) << bytes;
      try {
        const std::optional<Datasets> datasets = read_datasets(key);
        ASSERT_TRUE(datasets);
        require_all(*datasets);
        EXPECT_TRUE(equal(*datasets, expected)) << name << " at byte " << at;
      } catch (const Error& error) {
        kinds.push_back(error.kind());
      }
      bytes[at] = static_cast<char>(bytes[at] ^ 0x10);
    }
    std::ofstream(file, std::ios::binary) << bytes;
  }
  EXPECT_GT(std::count(kinds.begin(), kinds.end(), ErrorKind::kCheckpoint), 120);
  EXPECT_GT(std::count(kinds.begin(), kinds.end(), ErrorKind::kData), 20);
}

// As somebody would write it on purpose: all checksums are right.
TEST_F(CacheTest, RowsThatAreNotThoseOfTheSchemaAreRefused) {
  const DataConfig data = cached();
  load(data, 1);
  const CacheKey key = cache_key(data, 1).value();
  const fs::path head = entry() / "data.pt";
  const archive::Dict whole = archive::load(head);
  const auto message = [&](const std::string& name, const archive::Value& value) {
    archive::Dict root = whole;
    for (auto& [section, content] : root) {
      if (section != "train") continue;
      archive::Dict train = *content.get_if<archive::Dict>();
      for (auto& [part, old] : train) {
        if (part == name) old = value;
      }
      content = train;
    }
    archive::save(head, root);
    return test::after(head.string() + ": train.",
                       test::message_of(ErrorKind::kCheckpoint, [&] { read_datasets(key); }));
  };
  const std::string outside = "features: it is not within " + (entry() / "rows.bin").string();
  EXPECT_EQ(message("num_columns", int64_t{1} << 62), outside);
  EXPECT_EQ(message("num_columns", (int64_t{1} << 62) + 1), outside);
  EXPECT_EQ(message("features", int64_t{1} << 62), outside);
  EXPECT_EQ(message("features", {}), "features: missing");
  EXPECT_EQ(message("num_columns", 1), "num_columns: expected 4 as the schema has, got 1");
  EXPECT_EQ(message("classes", {}), "classes: expected 28 as the schema has, got 0");
}

// As somebody would write it on purpose, too.
TEST_F(CacheTest, RowsOfAClassThatThereIsNotAreRefused) {
  const DataConfig data = cached();
  load(data, 1);
  const CacheKey key = cache_key(data, 1).value();
  for (const int64_t index : {int64_t{2}, int64_t{-1}, int64_t{1} << 40}) {
    Datasets datasets = data::load_datasets(data, 1);
    datasets.validation.classes[3] = index;
    write_datasets(key, datasets);
    const Datasets forged = load(data, 1);
    EXPECT_EQ(
        test::message_of(ErrorKind::kData, [&] { data::require_intact(forged.validation); }),
        fmt::format("{}: row 4 has class {}, expected 0 to 1; remove this folder and start again",
                    entry().string(), index));
  }
}

TEST_F(CacheTest, DamagedRowsAreNamed) {
  const DataConfig data = cached();
  load(data, 1);
  std::string rows = test::read_file(entry() / "rows.bin");
  rows[1] = static_cast<char>(rows[1] ^ 1);
  write_file_atomically(entry() / "rows.bin", rows);
  const Datasets datasets = load(data, 1);
  std::string message =
      test::message_of(ErrorKind::kData, [&] { data::require_intact(datasets.train); });
  const size_t crc = message.find("0x");
  message.replace(crc, 10, "GOT");
  message.replace(message.find("0x"), 10, "EXPECTED");
  EXPECT_EQ(message, entry().string() +
                         ": rows 1 to 28 are damaged: their CRC-32 is GOT, expected EXPECTED; "
                         "remove this folder and start again");
  data::require_intact(datasets.validation);
}

TEST_F(CacheTest, ATruncatedCacheIsMadeAgain) {
  const DataConfig data = cached();
  const Datasets expected = data::load_datasets(data, 1);
  load(data, 1);
  for (const char* name : {"data.pt", "rows.bin"}) {
    const fs::path file = entry() / name;
    const std::string intact = test::read_file(file);
    for (const size_t size : {size_t{0}, size_t{1}, intact.size() / 2, intact.size() - 1}) {
      write_file_atomically(file, intact.substr(0, size));
      const Datasets datasets = load(data, 1);
      EXPECT_EQ(datasets.cache, written());
      EXPECT_TRUE(equal(datasets, expected));
      ASSERT_EQ(datasets.warnings.size(), 1U);
      EXPECT_TRUE(datasets.warnings[0].starts_with(
          "a cache was damaged and is made again: " + file.string() + ": "))
          << datasets.warnings[0];
    }
  }
  fs::remove(entry() / "rows.bin");
  EXPECT_EQ(load(data, 1).warnings,
            (std::vector<std::string>{
                "a cache was damaged and is made again: " + (entry() / "rows.bin").string() +
                ": cannot be opened: No such file or directory"}));
}

TEST_F(CacheTest, AFullDiskLeavesTheDataInMemory) {
  const DataConfig data = cached();
  const Datasets expected = data::load_datasets(data, 1);
  {
    const test::FileSizeLimit limit(1000);
    const Datasets datasets = load(data, 1);
    EXPECT_TRUE(equal(datasets, expected));
    EXPECT_EQ(datasets.cache, "");
    EXPECT_EQ(datasets.warnings,
              (std::vector<std::string>{"this run goes on without a cache: cannot write " +
                                        (entry() / "rows.bin").string() + ": File too large"}));
    EXPECT_FALSE(test::has_temporary_files(entry()));
  }
  const Datasets again = load(data, 1);
  EXPECT_EQ(again.cache, written());
}

TEST(CacheOnAReadOnlyDiskTest, LeavesTheDataInMemory) {
  const test::Unprivileged unprivileged;
  const test::TemporaryFolder folder;
  DataConfig data;
  data.source = config::Source::kCsv;
  data.path = folder.write("t.csv", small_table(40)).string();
  data.target = {"y"};
  make_old(data.path);
  fs::create_directory(folder.path() / "disk");
  data.cache = (folder.path() / "disk" / "cache").string();
  fs::permissions(folder.path() / "disk", fs::perms::owner_read | fs::perms::owner_exec);
  const Datasets datasets = load(data, 1);
  fs::permissions(folder.path() / "disk", fs::perms::owner_all);
  EXPECT_EQ(datasets.train.size(), 32);
  ASSERT_EQ(datasets.warnings.size(), 1U);
  EXPECT_TRUE(datasets.warnings[0].starts_with(
      "this run goes on without a cache: cannot create the folder " + data.cache))
      << datasets.warnings[0];
  EXPECT_TRUE(datasets.warnings[0].ends_with(": Permission denied"));
}

TEST_F(CacheTest, TwoThatNeedItAtOnceMakeItOnce) {
  const DataConfig data = cached(4000);
  std::future<Datasets> other = std::async(std::launch::async, [&] { return load(data, 1); });
  const Datasets one = load(data, 1);
  const Datasets two = other.get();
  EXPECT_TRUE(equal(one, two));
  EXPECT_NE(one.cache == written(), two.cache == written());
  EXPECT_NE(one.cache == mapped(), two.cache == mapped());
}

TEST_F(CacheTest, AFileThatChangesWhileItIsReadIsRefused) {
  const DataConfig data = cached();
  load(data, 1);
  fs::remove(entry() / "data.pt");
  std::promise<test::ThreadId> id;
  std::string message;
  std::thread reader;
  {
    const FolderLock lock(entry());
    reader = std::thread([&] {
      id.set_value(test::this_thread());
      message = test::message_of(ErrorKind::kData, [&] { load(data, 1); });
    });
    // It knows the state of the file and waits for the lock.
    test::wait_until_thread_sleeps(id.get_future().get());
    std::ofstream(data.path, std::ios::app) << "1,k1,1,p\n";
  }
  reader.join();
  EXPECT_EQ(message, data.path + ": changed while it was read; start again when it is complete");
}

// The system kills a program that writes more than it may.
TEST_F(CacheTest, AKilledProgramLeavesNothingThatIsUsed) {
  const DataConfig data = cached();
  const Datasets expected = data::load_datasets(data, 1);
  int num_killed = 0;
  for (const rlim_t bytes : std::vector<rlim_t>{1, 100'000, 300'000, 600'000, 10'000'000}) {
    test::Child child([&] {
      const rlimit none{0, 0};
      setrlimit(RLIMIT_CORE, &none);
      const rlimit limit{bytes, bytes};
      setrlimit(RLIMIT_FSIZE, &limit);
      signal(SIGXFSZ, SIG_DFL);
      load(data, 1);
      return 0;
    });
    if (child.wait() != 0) ++num_killed;
    const Datasets datasets = load(data, 1);
    EXPECT_TRUE(equal(datasets, expected));
    EXPECT_EQ(datasets.warnings, expected.warnings);
    EXPECT_FALSE(test::has_temporary_files(root()));
    fs::remove_all(root());
  }
  EXPECT_EQ(num_killed, 4);
}

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
