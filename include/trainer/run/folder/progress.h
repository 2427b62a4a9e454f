// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

namespace trainer::run {

/// How far a run is. It is sent after each step; the listener decides how often to show it.
struct Progress {
  int64_t epoch = 0;  // counted from 1
  int64_t num_epochs = 0;
  int64_t samples = 0;  // samples of this epoch that are done
  int64_t num_samples = 0;
  int64_t total_samples = 0;  // samples done since this process began
  double loss = 0;            // loss of the last logging interval
};

using ProgressListener = std::function<void(const Progress&)>;

}  // namespace trainer::run
