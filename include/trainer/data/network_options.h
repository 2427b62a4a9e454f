// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/config/config.h"
#include "trainer/cpu/network_options.h"
#include "trainer/data/dataset.h"

namespace trainer::data {

/// The network that `config` describes, for data of this schema: its features and outputs, and an
/// embedding for each embedded column with a row for each category and a last one.
cpu::NetworkOptions network_options(const config::Config& config, const Schema& schema);

}  // namespace trainer::data
