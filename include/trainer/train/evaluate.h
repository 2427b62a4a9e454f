// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "trainer/dist/world.h"
#include "trainer/model/loss.h"
#include "trainer/model/network.h"
#include "trainer/train/batches.h"

namespace trainer::train {

/// Loss and outputs over a split.
struct Evaluation {
  double loss = 0;          // mean over the samples
  int64_t num_correct = 0;  // classification only
  int64_t num_samples = 0;
  double time_seconds = 0;
  std::vector<float> outputs = {};  // [num_samples, num_outputs]

  /// The share of samples whose class is predicted.
  double accuracy() const {
    return static_cast<double>(num_correct) / static_cast<double>(num_samples);
  }
};

/// Loss, accuracy and outputs over all of `data`, in inference mode, which does not change the
/// model. Waits for the device once a batch, and keeps nothing on it. All processes call it, and
/// each computes some of the rows.
Evaluation evaluate(const model::Network& model, const ResidentData& data,
                    const model::LossOptions& loss, const dist::World& world = {});

}  // namespace trainer::train
