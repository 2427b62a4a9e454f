// SPDX-License-Identifier: Apache-2.0
#include "table/split/split_sizes.h"

#include <cmath>

#include <fmt/format.h>

#include "trainer/base/error.h"
#include "trainer/base/text/format.h"

namespace trainer::data {
namespace {

int64_t rows_of_split(const char* key, double fraction, int64_t num_rows) {
  const int64_t count = std::llround(fraction * static_cast<double>(num_rows));
  if (fraction > 0 && count == 0) {
    throw Error(ErrorKind::kData,
                fmt::format("{}: {} of {} rows is less than one row; use more data, a larger "
                            "fraction or 0",
                            key, shortest(fraction), with_thousands(num_rows)));
  }
  return count;
}

}  // namespace

SplitSizes split_sizes(int64_t num_rows, const SplitOptions& options) {
  const SplitSizes sizes = {
      .validation =
          rows_of_split("data.validation_fraction", options.validation_fraction, num_rows),
      .test = rows_of_split("data.test_fraction", options.test_fraction, num_rows)};
  if (sizes.validation + sizes.test >= num_rows) {
    throw Error(
        ErrorKind::kData,
        fmt::format("no rows left for training: of {} rows, {} are for validation and {} for test; "
                    "use more data or a smaller data.validation_fraction and data.test_fraction",
                    with_thousands(num_rows), with_thousands(sizes.validation),
                    with_thousands(sizes.test)));
  }
  return sizes;
}

int64_t validation_rows(int64_t num_rows, const SplitOptions& options) {
  return split_sizes(num_rows, {.validation_fraction = options.validation_fraction,
                                .test_fraction = 0,
                                .seed = options.seed})
      .validation;
}

}  // namespace trainer::data
