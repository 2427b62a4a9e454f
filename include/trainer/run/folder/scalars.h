// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "trainer/base/text/json_reader.h"

namespace trainer::run {

/// A number of a metrics record, for programs that draw curves.
struct Scalar {
  std::string name;   // such as "loss"
  std::string split;  // such as "train"; empty for numbers of the run, such as the learning rate
  double value = 0;
};

/// Returns the numbers of a record of metrics.jsonl that are drawn as curves. Training records
/// within an epoch have the split "train_steps", those of a whole epoch "train", because they are
/// means over different samples. Throws Error(kCheckpoint) for a record that this program has not
/// written.
std::vector<Scalar> scalars(const JsonReader& record);

}  // namespace trainer::run
