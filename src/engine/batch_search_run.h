// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/engine/engine.h"

namespace trainer::engine {

/// find_batch(), which may throw exceptions of LibTorch.
BatchSearchReport run_batch_search(const BatchSearchRequest& request);

}  // namespace trainer::engine
