// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "trainer/apply/model.h"

#include "apply/export_c_source.h"

namespace trainer::apply {

/// Adds the function `name`(x, y): from scaled features x the outputs y of the network of `member`.
void add_network(CSource& source, const Member& member, std::string_view name, int64_t num_features,
                 int64_t num_outputs);

}  // namespace trainer::apply
