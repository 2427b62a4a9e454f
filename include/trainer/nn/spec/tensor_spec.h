// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace trainer::network {

/// How the initial values of a tensor are chosen.
struct Initializer {
  enum class Kind {
    kConstant,
    kUniform,
    kNormal,
    kSign,  // +1 or -1
    /// For weights: normal, then scaled so that outputs on training rows have deviation 1.
    kStandardized,
    kRidge,           // for weights: ridge regression of the targets of training rows
    kMinusMixedRows,  // for the bias of such layers
    kQuantiles,       // quantiles of training rows
  };

  Kind kind = Kind::kConstant;
  double value = 0;            // the constant, b of U(-b, b), or d of N(0, d^2)
  bool last_row_zero = false;  // for any kind, the last row is 0
  /// The group of each column; all columns of a group get the same values; empty: no groups.
  std::vector<int64_t> groups = {};
};

/// Factors of the optimizer's settings for a tensor.
struct UpdateFactors {
  double learning_rate = 1;
  double weight_decay = 1;  // in addition to the factor of the learning rate
  double epsilon = 1;       // epsilon of Adam and RMSprop

  bool operator==(const UpdateFactors&) const = default;
};

/// Whether weight decay applies to a tensor. It does for weights of linear layers, but not for
/// biases, norms and embedding tables: decay at each step would erase the rows of rare categories.
enum class Decay { kYes, kNo };

/// A tensor of a network. The name is the one in a PyTorch state dict, such as "layers.0.weight".
struct TensorSpec {
  std::string name;
  std::vector<int64_t> shape;
  Initializer init = {};
  Decay decay = Decay::kNo;
  UpdateFactors factors = {};

  /// The number of elements, the product of all dimensions.
  int64_t num_elements() const;
};

}  // namespace trainer::network
