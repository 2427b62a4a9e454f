// SPDX-License-Identifier: Apache-2.0
// The program on tables that are no single CSV file: Parquet, queries, several files.
#include <filesystem>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "trainer/table/duckdb/query.h"

#include "support/files.h"
#include "support/process.h"
#include "support/program_test.h"
#include "support/trainer_program.h"

namespace trainer {
namespace {

using test::ProcessResult;

const std::filesystem::path kPenguins =
    std::filesystem::path(TRAINER_SOURCE_DIR) / "configs/data/penguins.csv";

class SourcesTest : public test::ProgramTest {
 protected:
  void SetUp() override {
    std::string reason;
    if (!duckdb::is_available(reason)) GTEST_SKIP() << reason;
  }

  /// Writes some rows of the penguins.
  void write_penguins(const std::string& name, const std::string& condition = "true") const {
    duckdb::execute({.name = name,
                     .sql = fmt::format(
                         "COPY (SELECT * FROM read_csv({}, nullstr = ['', 'NaN']) WHERE {}) TO {}",
                         duckdb::quoted_text(kPenguins.string()), condition,
                         duckdb::quoted_text(path(name).string()))});
  }

  ProcessResult train(const std::string& more) const {
    return trainer(test::with_config("penguins.yaml") + "training.epochs=3 " + more);
  }

  std::string predictions(const std::string& data) const {
    const ProcessResult result = trainer("predict runs/latest " + data);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return result.out;
  }
};

TEST_F(SourcesTest, AParquetFileTrainsTheModelOfTheCsvFile) {
  write_penguins("p.parquet");
  const ProcessResult parquet = train("data.path=p.parquet");
  ASSERT_EQ(parquet.exit_code, 0) << parquet.err;
  const std::string of_parquet = predictions("--data p.parquet");
  EXPECT_EQ(of_parquet, predictions("--data " + kPenguins.string()));
  const ProcessResult csv = train("");
  ASSERT_EQ(csv.exit_code, 0) << csv.err;
  EXPECT_EQ(predictions("--data p.parquet"), of_parquet);
}

TEST_F(SourcesTest, SeveralFilesAreOneTable) {
  std::filesystem::create_directory(path("islands"));
  for (const char* island : {"Biscoe", "Dream", "Torgersen"}) {
    write_penguins(fmt::format("islands/{}.csv", island), fmt::format("island = '{}'", island));
    write_penguins(fmt::format("islands/{}.parquet", island), fmt::format("island = '{}'", island));
  }
  ASSERT_EQ(train("data.path=islands/*.csv").exit_code, 0);
  const std::string of_csv = predictions("--data 'islands/*.parquet'");
  EXPECT_EQ(of_csv, predictions("--data 'islands/*.csv'"));
  ASSERT_EQ(train("data.path=islands/*.parquet").exit_code, 0);
  EXPECT_EQ(predictions("--data 'islands/*.csv'"), of_csv);
  const ProcessResult mixed = train("data.path=islands");
  EXPECT_EQ(mixed.exit_code, 3);
  EXPECT_EQ(mixed.err,
            fmt::format("error: {0}: expected files of one kind, got \"{0}/Biscoe.csv\" and "
                        "\"{0}/Biscoe.parquet\"; choose some with a pattern such as *.csv\n",
                        path("islands").string()));
}

TEST_F(SourcesTest, PredictionsAreWrittenAsParquetToo) {
  write_penguins("p.parquet");
  ASSERT_EQ(train("data.path=p.parquet data.id=body_mass_g").exit_code, 0);
  const ProcessResult result = trainer("predict runs/latest --data p.parquet --output out.parquet");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const duckdb::Query written(
      {.name = "q", .sql = "from 'out.parquet'", .folder = path("").string()});
  std::string columns;
  for (const duckdb::ResultColumn& column : written.columns()) {
    columns += fmt::format("{} {}, ", column.name, column.type_name);
  }
  EXPECT_EQ(columns,
            "body_mass_g BIGINT, prediction VARCHAR, p_Adelie FLOAT, p_Chinstrap FLOAT, p_Gentoo "
            "FLOAT, ");
  for (const auto& entry : std::filesystem::directory_iterator(path(""))) {
    EXPECT_NE(entry.path().filename().string()[0], '.') << "left over: " << entry.path();
  }
}

TEST_F(SourcesTest, PathsInAQueryStartAtItsFile) {
  write_penguins("p.parquet");
  const std::string yaml =
      "data:\n"
      "  source: query\n"
      "  query: select * from 'p.parquet' where flipper_length_mm > 190\n"
      "  target: species\n"
      "training: {epochs: 2}\n";
  folder_.write("q.yaml", yaml);
  std::filesystem::create_directory(path("elsewhere"));
  const auto there = [&](const std::string& arguments) {
    return test::trainer_in(path("elsewhere"), arguments);
  };
  const ProcessResult first = there("--config ../q.yaml");
  ASSERT_EQ(first.exit_code, 0) << first.err;
  EXPECT_EQ(trainer("--resume elsewhere/runs/latest training.epochs=3").exit_code, 0);
  const ProcessResult evaluated = there("eval runs/latest --query \"from '../p.parquet'\"");
  EXPECT_EQ(evaluated.exit_code, 0) << evaluated.err;
  EXPECT_NE(evaluated.out.find("data        the query: 344 rows\n"), std::string::npos)
      << evaluated.out;
  // What it gives is compared with what the run began with.
  write_penguins("p.parquet", "species <> 'Gentoo' or body_mass_g < 5000");
  const ProcessResult changed = there("--resume runs/latest training.epochs=4");
  EXPECT_EQ(changed.exit_code, 7) << changed.err;
  EXPECT_NE(changed.err.find("\n  data.query: "), std::string::npos) << changed.err;
}

TEST_F(SourcesTest, InitDescribesWhatDuckdbReads) {
  write_penguins("p.parquet");
  const ProcessResult file = trainer("init --data p.parquet --target species --output p.yaml");
  EXPECT_EQ(file.exit_code, 0) << file.err;
  EXPECT_NE(file.err.find("read 344 rows and 7 columns from p.parquet\n"), std::string::npos)
      << file.err;
  const ProcessResult query = trainer(
      "init --query \"select * exclude (sex) from 'p.parquet'\" --target species "
      "--output q.yaml");
  EXPECT_EQ(query.exit_code, 0) << query.err;
  const std::string yaml = test::read_file(path("q.yaml"));
  EXPECT_NE(yaml.find("  source: query\n"
                      "  query: \"select * exclude (sex) from 'p.parquet'\"\n"),
            std::string::npos)
      << yaml;
  EXPECT_EQ(trainer("--config q.yaml recipe=plain training.epochs=1").exit_code, 0);
}

class NoDuckdbTest : public test::ProgramTest {};

TEST_F(NoDuckdbTest, WithoutItAMessageSaysHowToInstallIt) {
  folder_.write("p.parquet", "");
  const ProcessResult result =
      trainer("init --data p.parquet", "TRAINER_DUCKDB_LIBRARY=/absent/libduckdb.so");
  EXPECT_EQ(result.exit_code, 2);
#ifndef __APPLE__
  EXPECT_EQ(result.err,
            "error: DuckDB is needed to read this: /absent/libduckdb.so: cannot open shared object "
            "file: No such file or directory; install it with scripts/setup.sh duckdb, or set "
            "TRAINER_DUCKDB_LIBRARY to the path of libduckdb.so\n");
#endif
}

TEST_F(NoDuckdbTest, AQueryAndAFileConflict) {
  const ProcessResult result = trainer("predict runs/latest --data a.csv --query 'select 1'");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.err, "error: --query: conflicts with --data; remove one of them\n");
}

}  // namespace
}  // namespace trainer
