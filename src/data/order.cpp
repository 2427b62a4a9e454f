// SPDX-License-Identifier: Apache-2.0
#include "trainer/data/order.h"

#include <cstddef>
#include <numeric>

#include "trainer/core/philox.h"

namespace trainer::data {

std::vector<int64_t> epoch_order(int64_t num_samples, uint64_t seed, int64_t epoch) {
  std::vector<int64_t> order(static_cast<size_t>(num_samples));
  std::iota(order.begin(), order.end(), int64_t{0});
  PhiloxStream random(seed, StreamId::kOrder, static_cast<uint64_t>(epoch));
  shuffle(order, random);
  return order;
}

}  // namespace trainer::data
