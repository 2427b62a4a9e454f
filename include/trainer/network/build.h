// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/network/spec.h"

namespace trainer::config {
struct Config;
}
namespace trainer::data {
struct Schema;
}

namespace trainer::network {

/// The network that `config` describes (model.name and the other keys of `model`), for data of this
/// schema: its features and outputs, and an embedding for each embedded column with a row for each
/// category and a last one for missing and unknown ones.
NetworkSpec build(const config::Config& config, const data::Schema& schema);

}  // namespace trainer::network
