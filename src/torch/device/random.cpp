// SPDX-License-Identifier: Apache-2.0
#include "trainer/torch/device/random.h"

#include "trainer/base/philox.h"

namespace trainer::device {

uint64_t dropout_seed(uint64_t seed, int64_t step) {
  return PhiloxStream(seed, StreamId::kDropout, static_cast<uint64_t>(step)).next_u64();
}

}  // namespace trainer::device
