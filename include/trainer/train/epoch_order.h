// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <future>

#include <ATen/core/Tensor.h>

#include "trainer/data/order.h"
#include "trainer/train/batches.h"

namespace trainer::train {

/// The order of the samples of an epoch (data/order.h) on the device of the data. It keeps one
/// window of it; a thread shuffles the next one meanwhile and reads its rows ahead, if they are
/// mapped from a file.
class EpochOrder {
 public:
  /// For no samples.
  EpochOrder() = default;
  /// For `data`, whose checks must outlive it.
  EpochOrder(const data::OrderOptions& options, const ResidentData& data);

  /// Samples that follow each other: those from `rows[begin]` on.
  struct Samples {
    const at::Tensor& rows;  // int64
    int64_t begin = 0;
  };
  /// The samples [begin, begin + count) of `epoch`, until the next call. Throws Error(kData) if
  /// rows that were read ahead are damaged (data/row_checks.h).
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
  at::Tensor rows_;   // of part_
  at::Tensor joint_;  // of a step that begins in one part and ends in another
  std::future<Part> next_;
};

}  // namespace trainer::train
