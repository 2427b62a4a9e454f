// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "trainer/data/csv.h"

#include "data/csv_header.h"

namespace trainer::data {

/// What a trained model says of each column. Throws Error(kData), see read_csv_as.
CsvHeader make_trained_header(const std::string& location, const std::vector<std::string>& names,
                              const TrainedColumns& trained, char delimiter);

}  // namespace trainer::data
