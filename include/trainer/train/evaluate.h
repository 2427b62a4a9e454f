// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "trainer/distributed/world.h"
#include "trainer/torch/model/loss.h"
#include "trainer/torch/model/network.h"
#include "trainer/train/batches.h"

namespace trainer::train {

/// The loss, accuracy and outputs of a model on all samples of a split.
struct Evaluation {
  double loss = 0;          // mean over the samples
  int64_t num_correct = 0;  // classification only
  int64_t num_samples = 0;
  double time_seconds = 0;
  std::vector<float> outputs = {};  // [num_samples, num_outputs]

  /// The fraction of samples whose class is predicted, 0 to 1.
  double accuracy() const {
    return static_cast<double>(num_correct) / static_cast<double>(num_samples);
  }
};

/// Computes loss, accuracy and outputs for all of `data` in inference mode, which does not change
/// the model. Waits for the device once per batch, and keeps nothing in its memory. All processes
/// must call it; each computes some of the rows, and all get the whole result.
Evaluation evaluate(const model::Network& model, const ResidentData& data,
                    const model::LossOptions& loss, const dist::World& world = {});

}  // namespace trainer::train
