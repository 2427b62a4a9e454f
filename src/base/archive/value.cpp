// SPDX-License-Identifier: Apache-2.0
#include "trainer/base/archive/value.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace trainer::archive {
namespace {

struct DTypeRow {
  const char* name;
  std::size_t size;
};

// The rows are in the order of the enumerators of DType.
constexpr std::array<DTypeRow, 10> kDTypes = {{{"float32", 4},
                                               {"float64", 8},
                                               {"float16", 2},
                                               {"bfloat16", 2},
                                               {"int64", 8},
                                               {"int32", 4},
                                               {"int16", 2},
                                               {"int8", 1},
                                               {"uint8", 1},
                                               {"bool", 1}}};

// The names are in the order of the alternatives of Value::Storage.
constexpr std::array<const char*, std::variant_size_v<Value::Storage>> kTypeNames = {
    "None", "bool", "int", "float", "str", "Tensor", "list", "dict"};

const DTypeRow& row(DType dtype) { return kDTypes.at(static_cast<std::size_t>(dtype)); }

}  // namespace

std::size_t element_size(DType dtype) { return row(dtype).size; }

const char* dtype_name(DType dtype) { return row(dtype).name; }

int64_t TensorData::num_elements() const {
  int64_t count = 1;
  for (const int64_t extent : shape) count *= extent;
  return count;
}

std::size_t TensorData::num_bytes() const {
  return static_cast<std::size_t>(num_elements()) * element_size(dtype);
}

bool operator==(const TensorData& a, const TensorData& b) {
  return a.dtype == b.dtype && a.shape == b.shape &&
         std::equal(a.data, a.data + a.num_bytes(), b.data);
}

std::string type_text(const TensorData& tensor) {
  return fmt::format("{} [{}]", dtype_name(tensor.dtype), fmt::join(tensor.shape, ", "));
}

const char* type_name(const Value& value) { return kTypeNames.at(value.storage().index()); }

const Value* find(const Dict& dict, std::string_view key) {
  const auto entry =
      std::find_if(dict.begin(), dict.end(), [&](const auto& item) { return item.first == key; });
  return entry == dict.end() ? nullptr : &entry->second;
}

}  // namespace trainer::archive
