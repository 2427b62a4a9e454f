// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/epoch_order.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include <ATen/ops/cat.h>
#include <ATen/ops/from_blob.h>

#include "trainer/table/row_checks.h"

namespace trainer::train {

EpochOrder::EpochOrder(const data::OrderOptions& options, const ResidentData& data)
    : options_(options), checks_(data.checks), device_(data.features.device()) {
  if (checks_ != nullptr && options_.has_windows()) checks_->expect_read_ahead();
}

EpochOrder::Samples EpochOrder::samples(int64_t epoch, int64_t begin, int64_t count) {
  if (!part_.has(epoch, begin)) go_to(epoch, begin);
  if (!rows_.defined()) upload();
  if (begin + count <= part_.order.end()) return {rows_, begin - part_.order.begin};
  std::vector<at::Tensor> pieces;
  for (const int64_t end = begin + count; begin < end; begin += pieces.back().size(0)) {
    if (!part_.has(epoch, begin)) {
      go_to(epoch, begin);
      upload();
    }
    pieces.push_back(rest_of_part(begin, end - begin));
  }
  joint_ = at::cat(pieces);
  return {joint_, 0};
}

void EpochOrder::go_to(int64_t epoch, int64_t position) {
  std::vector<int64_t> used = std::move(part_.order.rows);
  if (next_.valid()) part_ = next_.get();
  std::span<const int64_t> unread;
  if (!part_.has(epoch, position)) {
    part_ = {epoch, data::order_part(options_, epoch, position)};
    unread = part_.order.rows;
  }
  rows_.reset();
  if (!options_.has_windows()) return;
  const bool is_last = part_.order.end() == options_.num_rows;
  const int64_t next_epoch = is_last ? epoch + 1 : epoch;
  const int64_t next_position = is_last ? 0 : part_.order.end();
  next_ = std::async(std::launch::async, [unread, used = std::move(used), next_epoch, next_position,
                                          options = options_, checks = checks_] {
    if (checks != nullptr) checks->forget(used);
    if (checks != nullptr) checks->read_ahead(unread);
    Part next{next_epoch, data::order_part(options, next_epoch, next_position)};
    if (checks != nullptr) checks->read_ahead(next.order.rows);
    return next;
  });
}

// Separate from go_to(), so that it can be repeated if memory runs out.
void EpochOrder::upload() {
  std::vector<int64_t>& rows = part_.order.rows;
  rows_ = at::from_blob(rows.data(), {std::ssize(rows)}, at::kLong).to(device_);
}

// Returns a copy, because go_to() replaces the memory of part_.
at::Tensor EpochOrder::rest_of_part(int64_t begin, int64_t count) const {
  const int64_t rest = std::min(count, part_.order.end() - begin);
  return rows_.narrow(0, begin - part_.order.begin, rest).clone();
}

}  // namespace trainer::train
