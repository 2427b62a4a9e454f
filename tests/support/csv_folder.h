// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "trainer/table/source/table_reader.h"

#include "support/data_folder.h"

namespace trainer::test {

inline const std::vector<std::string> kTarget = {"y"};

/// Tests of a CSV file.
class CsvFolderTest : public DataFolderTest {
 protected:
  data::Table read(std::string_view content,
                   const data::ColumnOptions& options = {.targets = kTarget},
                   const data::CsvFormat& format = {}) const {
    return data::read_table({folder_.write("t.csv", content), format}, options);
  }

  /// The same of a message that begins with the path.
  template <class Action>
  std::string message_of(Action action) const {
    return after(folder_.path().string() + "/", test::message_of(ErrorKind::kData, action));
  }

  std::string problem(std::string_view content,
                      const data::ColumnOptions& options = {.targets = kTarget},
                      const data::CsvFormat& format = {}) const {
    return problem_of({folder_.write("t.csv", content), format}, options);
  }

  std::string problem_of(const data::TableSource& source,
                         const data::ColumnOptions& options = {.targets = kTarget}) const {
    return message_of([&] { data::read_table(source, options); });
  }
};

}  // namespace trainer::test
