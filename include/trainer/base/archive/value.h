// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace trainer::archive {

/// The element types of PyTorch that an archive can contain.
enum class DType {
  kFloat32,
  kFloat64,
  kFloat16,
  kBFloat16,
  kInt64,
  kInt32,
  kInt16,
  kInt8,
  kUInt8,
  kBool
};

/// The size of one element, in bytes.
std::size_t element_size(DType dtype);

/// The name of the type in PyTorch, such as "float32" or "int64".
const char* dtype_name(DType dtype);

/// A contiguous row-major tensor in CPU memory. `owner` keeps the memory behind `data` alive, so
/// that a LibTorch tensor can be written, and a file can be read, without a copy.
struct TensorData {
  DType dtype = DType::kFloat32;
  std::vector<int64_t> shape;
  const std::byte* data = nullptr;
  std::shared_ptr<const void> owner;

  /// The number of elements, the product of the shape; 1 for a 0-d tensor.
  int64_t num_elements() const;
  /// The size of all elements together, in bytes.
  std::size_t num_bytes() const;
};

/// Whether type, shape and every byte are the same.
bool operator==(const TensorData& a, const TensorData& b);

/// Returns type and shape for messages, such as "float32 [2, 3]".
std::string type_text(const TensorData& tensor);

/// A tensor of a state dict with its name, such as "layers.0.weight".
struct NamedTensor {
  std::string name;
  TensorData tensor;

  bool operator==(const NamedTensor&) const = default;
};

class Value;
using List = std::vector<Value>;
/// Unique keys in the order of insertion.
using Dict = std::vector<std::pair<std::string, Value>>;

/// A value in an archive: a plain value, a tensor, or a container of values. In Python these are
/// `None`, `bool`, `int`, `float`, `str`, `Tensor`, `list` and `dict` with string keys.
class Value {
 public:
  using Storage =
      std::variant<std::monostate, bool, int64_t, double, std::string, TensorData, List, Dict>;

  Value() = default;
  // Implicit, so that a Dict can be written as nested braces.
  // NOLINTBEGIN(google-explicit-constructor, hicpp-explicit-conversions)
  Value(bool value) : storage_(value) {}
  Value(int value) : storage_(static_cast<int64_t>(value)) {}
  Value(int64_t value) : storage_(value) {}
  Value(double value) : storage_(value) {}
  Value(const char* value) : storage_(std::string(value)) {}
  Value(std::string value) : storage_(std::move(value)) {}
  Value(TensorData value) : storage_(std::move(value)) {}
  Value(List value) : storage_(std::move(value)) {}
  Value(Dict value) : storage_(std::move(value)) {}
  // NOLINTEND(google-explicit-constructor, hicpp-explicit-conversions)

  const Storage& storage() const { return storage_; }

  /// Returns the value if it is of this type, else nullptr.
  template <typename T>
  const T* get_if() const {
    return std::get_if<T>(&storage_);
  }

 private:
  Storage storage_;
};

/// The Python type of a value: "None", "bool", "int", "float", "str", "Tensor", "list",
/// "dict".
const char* type_name(const Value& value);

/// Returns the entry of `dict` with this key, or nullptr.
const Value* find(const Dict& dict, std::string_view key);

}  // namespace trainer::archive
