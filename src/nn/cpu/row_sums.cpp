// SPDX-License-Identifier: Apache-2.0
#include "trainer/nn/cpu/row_sums.h"

namespace trainer::cpu {

RowSums sums_of_one_shard(int64_t num_rows, Accumulate accumulate) {
  RowSums sums;
  sums.num_batch_rows = num_rows;
  sums.borders = {0, num_rows};
  sums.gradients = {{.shards = {}, .accumulate = accumulate}};
  sums.subtrees = {sums.shards};
  sums.all_subtrees = {sums.shards};
  return sums;
}

}  // namespace trainer::cpu
