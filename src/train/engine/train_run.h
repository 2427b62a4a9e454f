// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/engine/engine.h"

namespace trainer::engine {

/// Implements train() of engine.h. May throw exceptions of LibTorch.
TrainReport run_training(TrainRequest request);

}  // namespace trainer::engine
