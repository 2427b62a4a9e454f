// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "trainer/table/duckdb/query.h"

#include "support/data_folder.h"

namespace trainer::test {

/// Tests that need DuckDB's library; skipped without it.
class DuckdbTest : public DataFolderTest {
 protected:
  void SetUp() override {
    std::string reason;
    if (!duckdb::is_available(reason)) GTEST_SKIP() << reason;
  }

  /// Writes what a query gives to a file of this name; its ending is the format.
  std::filesystem::path write_result(std::string_view name, std::string_view query) const {
    std::filesystem::path file = folder_.path() / name;
    duckdb::execute(
        {.name = "test",
         .sql = fmt::format("COPY ({}) TO {}", query, duckdb::quoted_text(file.string()))});
    return file;
  }
};

}  // namespace trainer::test
