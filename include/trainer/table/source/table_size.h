// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace trainer::config {
struct DataConfig;
}

namespace trainer::data {

/// How large a table is, before it is read.
struct TableSize {
  uint64_t file_bytes = 0;     // of its files, packed or not
  int64_t num_rows = 0;        // of Parquet exactly, of CSV text about; 0: not known
  int64_t num_features = 0;    // at least: each categorical column counts as one
  uint64_t encoded_bytes = 0;  // as a Dataset, at least
};

/// The size of the files of data.path. Quick, as only their beginning is looked at.
/// Throws Error(kData) for files that are not there.
uint64_t file_bytes(const config::DataConfig& data);

/// The size of the table of data.path, from its header and first rows. Throws Error(kData) as
/// read_table() does for these.
TableSize table_size(const config::DataConfig& data);

}  // namespace trainer::data
