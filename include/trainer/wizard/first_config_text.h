// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "trainer/data/dataset.h"
#include "trainer/data/inspect.h"
#include "trainer/wizard/first_config.h"

namespace trainer::wizard {

/// The file: YAML with a comment for each decision, to be written into the file `name`; `path` is
/// that of the table as the file says it. Loading it gives `first.config`.
std::string first_config_text(const FirstConfig& first, const data::TableFacts& table,
                              const data::Schema& schema, const std::string& name,
                              const std::string& path);

}  // namespace trainer::wizard
