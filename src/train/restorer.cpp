// SPDX-License-Identifier: Apache-2.0
#include "train/restorer.h"

#include <optional>

#include <ATen/ops/from_blob.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "trainer/base/error.h"
#include "trainer/base/text/find_by_name.h"

namespace trainer::train {
namespace {

std::optional<at::ScalarType> float_type(archive::DType dtype) {
  switch (dtype) {
    case archive::DType::kFloat32:
      return at::kFloat;
    case archive::DType::kFloat64:
      return at::kDouble;
    case archive::DType::kFloat16:
      return at::kHalf;
    case archive::DType::kBFloat16:
      return at::kBFloat16;
    case archive::DType::kInt64:
    case archive::DType::kInt32:
    case archive::DType::kInt16:
    case archive::DType::kInt8:
    case archive::DType::kUInt8:
    case archive::DType::kBool:
      break;
  }
  return std::nullopt;
}

}  // namespace

bool Restorer::accepts(archive::DType dtype) const {
  return accepts_ == Accepts::kAnyFloat ? float_type(dtype).has_value()
                                        : dtype == archive::DType::kFloat32;
}

void Restorer::copy(const std::string& what, const std::vector<checkpoint::NamedTensor>& from,
                    const std::vector<model::NamedTensor>& to) {
  for (const model::NamedTensor& target : to) {
    const checkpoint::NamedTensor* saved = find_by_name(from, target.name);
    if (saved == nullptr) {
      add_problem(fmt::format("{} {}: missing from the file", what, target.name));
    } else if (const archive::TensorData& data = saved->tensor;
               !accepts(data.dtype) || at::IntArrayRef(data.shape) != target.tensor.sizes()) {
      add_problem(fmt::format("{} {}: expected float32 [{}], got {}", what, target.name,
                              fmt::join(target.tensor.sizes(), ", "), archive::type_text(data)));
    } else {
      copies_.emplace_back(target.tensor, data);
    }
  }
  for (const checkpoint::NamedTensor& named : from) {
    if (find_by_name(to, named.name) != nullptr) continue;
    add_problem(fmt::format("{} {}: no such tensor in the model", what, named.name));
  }
}

// Copies everything or nothing, so that no state is partly restored.
void Restorer::finish() {
  if (!problems_.empty()) {
    throw Error(ErrorKind::kCheckpoint,
                fmt::format("{}:\n  {}", headline_, fmt::join(problems_, "\n  ")));
  }
  for (auto& [target, data] : copies_) {
    target.copy_(at::from_blob(const_cast<std::byte*>(data.data), data.shape,  // NOLINT: read
                               *float_type(data.dtype)));
  }
}

}  // namespace trainer::train
