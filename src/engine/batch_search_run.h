// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/engine/engine.h"

namespace trainer::engine {

/// find_batch() without the translation of LibTorch's exceptions.
BatchSearchReport run_batch_search(const BatchSearchRequest& request);

}  // namespace trainer::engine
