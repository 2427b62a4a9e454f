// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <future>
#include <span>

#include <ATen/core/Tensor.h>

#include "trainer/table/dataset.h"
#include "trainer/table/split/order.h"
#include "trainer/torch/model/loss.h"
#include "trainer/torch/model/network.h"

namespace trainer::train {

/// A split of the data on the device. On the CPU these are views of the Dataset and of the Schema's
/// scaling, which must outlive it. Features are scaled, and bytes converted to float32, when a
/// batch is gathered. On other devices, float32 features are scaled once, in advance; then
/// `is_scaled` is set.
struct ResidentData {
  at::Tensor features;  // [n, num_features] float32 or uint8
  at::Tensor targets;   // [n] int64 classes, or [n, num_targets] float32 values
  at::Tensor shift;     // [num_features]
  at::Tensor scale;     // [num_features]
  /// [num_features] reciprocal limits of the smooth clip; undefined without a clip.
  at::Tensor inverse_limit = {};
  at::Tensor weights = {};  // [n] float32 sample weights; undefined: none
  bool is_scaled = false;
  data::RowChecks* checks = nullptr;  // the checks of the Dataset; null on other devices

  int64_t size() const { return features.size(0); }
};

/// The input of one forward pass: scaled features `[batch, num_features]` float32 and targets.
struct Batch {
  at::Tensor features;
  model::Targets targets;

  int64_t size() const { return features.size(0); }
};

/// Puts a split on `device`, with targets in the form that the loss needs.
ResidentData make_resident(const data::Dataset& dataset, const data::Schema& schema,
                           c10::Device device);

/// Throws Error(kData) if one of these rows of a cache file is damaged (table/row_checks.h). Must
/// be called before features are read in another way than by gather() and slice(), which check the
/// rows themselves.
void require_intact(const ResidentData& data, std::span<const int64_t> rows);

/// Returns the samples with the indices `rows`, `[batch]` int64 on the device of the data. Throws
/// Error(kData) like require_intact().
Batch gather(const ResidentData& data, const at::Tensor& rows);

/// Returns the batch as rows to initialize a model with.
model::TrainingRows on_cpu(const Batch& batch);

/// Returns the samples [begin, end) in the order of the data. Throws Error(kData) like
/// require_intact().
Batch slice(const ResidentData& data, int64_t begin, int64_t end);

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
