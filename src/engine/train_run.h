// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/engine/engine.h"

namespace trainer::engine {

/// train(), which may throw exceptions of LibTorch.
TrainReport run_training(TrainRequest request);

}  // namespace trainer::engine
