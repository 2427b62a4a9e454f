// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

namespace trainer::run {

/// How far a run is. Sent after each step; whoever shows it decides how often.
struct Progress {
  int64_t epoch = 0;  // counted from 1
  int64_t num_epochs = 0;
  int64_t samples = 0;  // of this epoch, done
  int64_t num_samples = 0;
  int64_t total_samples = 0;  // done since this process began
  double loss = 0;            // of the last logging step
};

using ProgressListener = std::function<void(const Progress&)>;

}  // namespace trainer::run
