// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/engine/engine.h"

namespace trainer::engine {

/// Implements find_batch() of engine.h. May throw exceptions of LibTorch.
BatchSearchReport run_batch_search(const BatchSearchRequest& request);

}  // namespace trainer::engine
