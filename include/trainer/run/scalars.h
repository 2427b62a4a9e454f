// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "trainer/core/json_reader.h"

namespace trainer::run {

/// A number of a record, for programs that draw curves.
struct Scalar {
  std::string name;   // "loss"
  std::string split;  // "train"; empty: of the run, such as the learning rate
  double value = 0;
};

/// The numbers of a record of metrics.jsonl that make a curve. Training records within an epoch and
/// those that close one have splits of their own, "train_steps" and "train", as they are of other
/// samples. Throws Error(kCheckpoint) for a record of a file that is not one of this program.
std::vector<Scalar> scalars(const JsonReader& record);

}  // namespace trainer::run
