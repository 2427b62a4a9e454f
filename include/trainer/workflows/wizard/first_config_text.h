// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "trainer/table/dataset.h"
#include "trainer/table/source/inspect.h"
#include "trainer/workflows/wizard/first_config.h"

namespace trainer::wizard {

/// Returns the first column that is a part of a date; nullptr if there is none.
const data::Column* find_date(const data::Schema& schema);

/// The configuration as YAML with a comment for each decision. `name` is the name of the YAML file
/// in the comments; `path` is written as data.path, or as data.query_folder for a query. Loading
/// the text gives `first.config`.
std::string first_config_text(const FirstConfig& first, const data::TableFacts& table,
                              const data::Schema& schema, const std::string& name,
                              const std::string& path);

}  // namespace trainer::wizard
