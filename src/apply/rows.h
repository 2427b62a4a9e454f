// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "trainer/apply/model.h"
#include "trainer/apply/predict.h"
#include "trainer/data/table.h"

namespace trainer::apply {

/// Some rows of the data, as a model takes them.
struct Rows {
  data::Matrix features;         // [num_rows, num_features], encoded
  std::vector<std::string> ids;  // [num_rows, ids of the source]
};

/// Where rows come from.
class RowSource {
 public:
  virtual ~RowSource() = default;
  /// Names of the id columns.
  virtual std::vector<std::string> id_names() const { return {}; }
  /// Columns that nobody asked for, and ids that are not there: a line each.
  virtual std::vector<std::string> notes() const { return {}; }
  /// The next rows, at most `max_rows`; false when there are no more.
  virtual bool next(int64_t max_rows, Rows& rows) = 0;
  virtual std::vector<std::string> warnings() const { return {}; }
  virtual uint64_t bytes_read() const = 0;
  virtual uint64_t likely_bytes() const = 0;
};

/// Opens the data of a request and looks at its header. Throws Error(kData).
std::unique_ptr<RowSource> open_rows(const Model& model, const PredictRequest& request);

}  // namespace trainer::apply
