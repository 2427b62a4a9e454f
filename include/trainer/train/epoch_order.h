// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <future>

#include <ATen/core/Tensor.h>

#include "trainer/table/split/order.h"
#include "trainer/train/batches.h"

namespace trainer::train {

/// The order of the samples of an epoch (table/split/order.h) on the device of the data. Keeps one
/// shuffle window of the order. Meanwhile a thread shuffles the next window and, if the rows are
/// mapped from a file, reads them ahead.
class EpochOrder {
 public:
  /// Creates an order without samples, to be assigned to later.
  EpochOrder() = default;
  /// Creates the order for `data`, whose `checks` must outlive it.
  EpochOrder(const data::OrderOptions& options, const ResidentData& data);

  /// Consecutive samples: those with the indices from `rows[begin]` on.
  struct Samples {
    const at::Tensor& rows;  // int64
    int64_t begin = 0;
  };
  /// Returns the samples [begin, begin + count) of `epoch`. They are valid until the next call.
  /// Throws Error(kData) if rows that were read ahead are damaged (table/row_checks.h).
  Samples samples(int64_t epoch, int64_t begin, int64_t count);

 private:
  struct Part {
    int64_t epoch = -1;
    data::OrderPart order;

    bool has(int64_t wanted_epoch, int64_t position) const {
      return epoch == wanted_epoch && position >= order.begin && position < order.end();
    }
  };

  void go_to(int64_t epoch, int64_t position);
  void upload();
  at::Tensor rest_of_part(int64_t begin, int64_t count) const;

  data::OrderOptions options_;
  data::RowChecks* checks_ = nullptr;
  c10::Device device_ = c10::kCPU;
  Part part_;
  at::Tensor rows_;   // the rows of part_ on the device; undefined: not uploaded yet
  at::Tensor joint_;  // rows of a step that begins in one part and ends in another
  std::future<Part> next_;
};

}  // namespace trainer::train
