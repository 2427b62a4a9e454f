// SPDX-License-Identifier: Apache-2.0
#include "trainer/device/random.h"

#include <ATen/Context.h>

#include "trainer/core/philox.h"

namespace trainer::device {

void seed_step(uint64_t seed, int64_t step) {
  PhiloxStream stream(seed, Purpose::kDropout, static_cast<uint64_t>(step));
  at::manual_seed(stream.next_u64());
}

}  // namespace trainer::device
