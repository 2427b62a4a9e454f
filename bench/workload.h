// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace trainer::config {
struct Config;
}

namespace trainer::bench {

/// A model and a batch size.
struct Workload {
  std::string name;
  int64_t num_features = 0;
  std::vector<int64_t> hidden_sizes;
  int64_t num_classes = 0;
  int64_t batch_size = 0;
  void (*change)(config::Config& config) = nullptr;  // other keys; null: their defaults
};

}  // namespace trainer::bench
