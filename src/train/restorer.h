// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "trainer/run/checkpoint/checkpoint.h"
#include "trainer/torch/model/parameters.h"

namespace trainer::train {

/// The tensor types that are accepted: kFloat32 for the state of a run, which must be exact;
/// kAnyFloat for weights of other programs, which are converted to float32.
enum class Accepts { kFloat32, kAnyFloat };

/// Copies tensors of a file to tensors of the same names. If one of them does not fit, copies none.
class Restorer {
 public:
  /// `headline` is the first line of the error message.
  Restorer(std::string headline, Accepts accepts)
      : headline_(std::move(headline)), accepts_(accepts) {}

  /// Schedules the copies, and adds a problem for each tensor that is missing, unknown, or of
  /// another shape or type. `what` precedes the names in messages.
  void copy(const std::string& what, const std::vector<checkpoint::NamedTensor>& from,
            const std::vector<model::NamedTensor>& to);

  void add_problem(const std::string& problem) { problems_.push_back(problem); }

  /// Throws Error(kCheckpoint) with all problems, or performs the copies.
  void finish();

 private:
  bool accepts(archive::DType dtype) const;

  std::string headline_;
  Accepts accepts_;
  std::vector<std::string> problems_;
  std::vector<std::pair<at::Tensor, archive::TensorData>> copies_;
};

}  // namespace trainer::train
