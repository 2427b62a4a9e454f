// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/nn/spec/spec.h"

namespace trainer::config {
struct Config;
}
namespace trainer::data {
struct Schema;
}

namespace trainer::network {

/// Returns the network that the `model` section of `config` describes, for data of this schema.
/// Each embedded column gets an embedding table with a row per category and a last row for missing
/// and unknown categories.
NetworkSpec build(const config::Config& config, const data::Schema& schema);

}  // namespace trainer::network
