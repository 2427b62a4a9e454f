// SPDX-License-Identifier: Apache-2.0
#include "trainer/table/source/table_size.h"

#include <filesystem>
#include <string>
#include <system_error>

#include "trainer/config/data_config.h"
#include "trainer/table/source/table_reader.h"
#include "trainer/table/source/table_source.h"

#include "table/load_table.h"

namespace trainer::data {

uint64_t file_bytes(const config::DataConfig& data) {
  uint64_t num_bytes = 0;
  for (const std::string& file : source_files(data.path)) {
    std::error_code ignored;  // the reader has the words for it
    if (!std::filesystem::is_regular_file(file, ignored)) continue;
    const uintmax_t size = std::filesystem::file_size(file, ignored);
    if (!ignored) num_bytes += size;
  }
  return num_bytes;
}

TableSize table_size(const config::DataConfig& data) {
  const TableReader reader(training_source(data), training_columns(data, /*trained=*/nullptr));
  TableSize size{.file_bytes = file_bytes(data), .num_rows = reader.num_rows_hint()};
  size.num_features = reader.num_features();
  // Features, the targets, and the number of the row (Dataset).
  const auto num_floats = size.num_features + std::ssize(data.target);
  size.encoded_bytes =
      static_cast<uint64_t>(size.num_rows) *
      static_cast<uint64_t>(num_floats * int64_t{sizeof(float)} + int64_t{sizeof(int64_t)});
  return size;
}

}  // namespace trainer::data
