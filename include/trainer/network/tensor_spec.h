// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace trainer::network {

/// The initial values of a tensor.
struct Initializer {
  enum class Kind {
    kConstant,
    kUniform,
    kNormal,
    kSign,            // +1 or -1
    kStandardized,    // a weight: normal, then scaled by its outputs on training rows
    kMinusMixedRows,  // the bias to such a weight
    kQuantiles,       // of training rows
  };

  Kind kind = Kind::kConstant;
  double value = 0;                  // the constant, b of U(-b, b), or d of N(0, d^2)
  bool last_row_zero = false;        // whatever the kind
  std::vector<int64_t> groups = {};  // of the columns: one number for all of a group; empty: none
};

/// Factors of the update of a tensor.
struct UpdateFactors {
  double learning_rate = 1;
  double weight_decay = 1;  // beside that of the learning rate
  double epsilon = 1;       // of Adam and RMSprop

  bool operator==(const UpdateFactors&) const = default;
};

/// Whether weight decay may apply. It does to the weights of linear layers, but not to biases,
/// norms and embeddings: decay at each step would erase the rows of rare categories.
enum class Decay { kYes, kNo };

/// A tensor of a network. The name is that of a PyTorch state dict: "layers.0.weight".
struct TensorSpec {
  std::string name;
  std::vector<int64_t> shape;
  Initializer init = {};
  Decay decay = Decay::kNo;
  UpdateFactors factors = {};

  /// The product of its shape.
  int64_t num_elements() const;
};

}  // namespace trainer::network
