// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/batches.h"

#include <algorithm>
#include <variant>

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

}  // namespace trainer::train
