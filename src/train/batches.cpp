// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/batches.h"

#include <algorithm>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include <ATen/ops/cat.h>
#include <ATen/ops/from_blob.h>

#include "trainer/table/row_checks.h"

namespace trainer::train {
namespace {

template <class Values>
at::Tensor tensor_view(const Values& values, at::IntArrayRef shape, at::ScalarType dtype) {
  // LibTorch has no read-only tensors; nothing writes to this one.
  auto* data = const_cast<typename Values::value_type*>(values.data());  // NOLINT
  return at::from_blob(data, shape, dtype);
}

// Scales features, which are float32 or uint8, and returns float32.
at::Tensor scaled(const ResidentData& data, const at::Tensor& features) {
  at::Tensor values = features.sub(data.shift).mul_(data.scale);
  if (data.inverse_limit.defined()) {
    values.div_(values.mul(data.inverse_limit).square_().add_(1).sqrt_());
  }
  return values;
}

// Scales in place, a few rows at a time, so that little extra memory is needed.
void scale_all(ResidentData& data) {
  constexpr int64_t kRows = 8192;
  for (int64_t begin = 0; begin < data.size(); begin += kRows) {
    at::Tensor rows = data.features.narrow(0, begin, std::min(kRows, data.size() - begin));
    rows.copy_(scaled(data, rows));
  }
  data.is_scaled = true;
}

Batch make_batch(const ResidentData& data, const at::Tensor& features, model::Targets targets) {
  return {data.is_scaled ? features : scaled(data, features), std::move(targets)};
}

}  // namespace

ResidentData make_resident(const data::Dataset& dataset, const data::Schema& schema,
                           c10::Device device) {
  const data::Matrix& matrix = dataset.features;
  const auto shape = {matrix.num_rows, matrix.num_columns};
  ResidentData resident;
  if (device.is_cpu()) {
    resident.checks = dataset.checks.get();
  } else {
    data::require_intact(dataset);
  }
  if (const auto* bytes = std::get_if<Array<uint8_t>>(&matrix.values)) {
    resident.features = tensor_view(*bytes, shape, at::kByte).to(device);
  } else {
    resident.features =
        tensor_view(std::get<Array<float>>(matrix.values), shape, at::kFloat).to(device);
  }
  resident.targets =
      schema.task == config::Task::kRegression
          ? tensor_view(dataset.values, {dataset.size(), schema.num_targets()}, at::kFloat)
                .to(device)
          : tensor_view(dataset.classes, {dataset.size()}, at::kLong).to(device);
  if (!dataset.weights.empty()) {
    resident.weights = tensor_view(dataset.weights, {dataset.size()}, at::kFloat).to(device);
  }
  const int64_t num_features = schema.num_features();
  resident.shift = tensor_view(schema.scaling.shift, {num_features}, at::kFloat).to(device);
  resident.scale = tensor_view(schema.scaling.scale, {num_features}, at::kFloat).to(device);
  if (!schema.scaling.inverse_limit.empty()) {
    resident.inverse_limit =
        tensor_view(schema.scaling.inverse_limit, {num_features}, at::kFloat).to(device);
  }
  // On the CPU the features belong to the Dataset and must not change. Bytes stay unscaled, because
  // they need only a quarter of the memory.
  if (!device.is_cpu() && resident.features.scalar_type() == at::kFloat) scale_all(resident);
  return resident;
}

void require_intact(const ResidentData& data, std::span<const int64_t> rows) {
  if (data.checks != nullptr) data.checks->require(rows);
}

Batch gather(const ResidentData& data, const at::Tensor& rows) {
  if (data.checks != nullptr) {
    require_intact(data, {rows.data_ptr<int64_t>(), static_cast<std::size_t>(rows.numel())});
  }
  return make_batch(data, data.features.index_select(0, rows),
                    {data.targets.index_select(0, rows),
                     data.weights.defined() ? data.weights.index_select(0, rows) : at::Tensor()});
}

Batch slice(const ResidentData& data, int64_t begin, int64_t end) {
  const int64_t size = end - begin;
  if (data.checks != nullptr) data.checks->require(begin, end);
  return make_batch(data, data.features.narrow(0, begin, size),
                    {data.targets.narrow(0, begin, size),
                     data.weights.defined() ? data.weights.narrow(0, begin, size) : at::Tensor()});
}

model::TrainingRows on_cpu(const Batch& batch) {
  const at::Tensor& weights = batch.targets.weights;
  return {.features = batch.features.cpu(),
          .targets = {batch.targets.values.cpu(), weights.defined() ? weights.cpu() : weights}};
}

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
