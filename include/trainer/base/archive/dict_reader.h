// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "trainer/base/archive/value.h"
#include "trainer/base/text/enum_names.h"

namespace trainer::archive {

/// Typed access to a dict of a checkpoint file. Every error names the file and the entry.
class DictReader {
 public:
  DictReader(const std::filesystem::path& path, const Dict& dict, std::string prefix = "")
      : path_(path), dict_(dict), prefix_(std::move(prefix)) {}

  /// Throws Error(kCheckpoint) with the message "{file}: {entry}: {problem}". All functions below
  /// do so for an entry that is missing or has the wrong type or value.
  [[noreturn]] void refuse(const std::string& key, const std::string& problem) const;

  /// Whether the dict has an entry with this key.
  bool has(const std::string& key) const { return find(dict_, key) != nullptr; }

  /// Returns the entry, of any type.
  const Value& value(const std::string& key) const;

  /// Returns the entry as a T, whose type messages call `expected`.
  template <typename T>
  const T& get(const std::string& key, const char* expected) const {
    const Value& found = value(key);
    const T* typed = found.get_if<T>();
    if (typed == nullptr) {
      refuse(key, fmt::format("expected {}, got {}", expected, type_name(found)));
    }
    return *typed;
  }

  /// Returns an entry that must be an integer.
  int64_t integer(const std::string& key) const { return get<int64_t>(key, "int"); }
  /// Returns an entry that must be a float; it may be NaN or infinite.
  double number(const std::string& key) const { return get<double>(key, "float"); }
  /// Returns an entry that must be a string.
  const std::string& text(const std::string& key) const { return get<std::string>(key, "str"); }
  /// Returns the value of an enumeration whose name the entry must be.
  template <typename Enum>
  Enum choice(const std::string& key) const {
    const std::optional<Enum> value = from_text<Enum>(text(key));
    if (!value) {
      refuse(key, fmt::format("expected {}, got \"{}\"", fmt::join(enum_names<Enum>(), " or "),
                              text(key)));
    }
    return *value;
  }

  /// Returns an entry that must be a list, with elements of any type.
  const List& list(const std::string& key) const { return get<List>(key, "list"); }

  /// Returns an entry that must be a float and neither NaN nor infinite.
  double finite_number(const std::string& key) const;

  /// Returns an entry that must be an integer of at least 0.
  int64_t count(const std::string& key) const;

  /// Returns a reader for an entry that must be a dict.
  DictReader section(const std::string& key) const {
    return {path_, get<Dict>(key, "dict"), prefix_ + key + "."};
  }

  /// Returns a reader for `value`, an element of the list `key` that must be a dict.
  DictReader element(const std::string& key, const Value& value) const;

  /// Returns an entry that must be a list of strings.
  std::vector<std::string> texts(const std::string& key) const;

  /// Returns an entry that must be a one-dimensional float32 tensor, with `expected_size` elements
  /// if that is given.
  std::vector<float> floats(const std::string& key,
                            std::optional<std::size_t> expected_size = {}) const {
    return numbers<float>(key, DType::kFloat32, expected_size);
  }

  /// Returns an entry that must be a one-dimensional float64 tensor of `expected_size` finite
  /// numbers.
  std::vector<double> doubles(const std::string& key, std::size_t expected_size) const;

  /// Returns the tensors of an entry that must be a dict of tensors, in order.
  std::vector<NamedTensor> tensors(const std::string& key) const;

  /// Returns all entries of the dict.
  const Dict& dict() const { return dict_; }

 private:
  template <typename T>
  std::vector<T> numbers(const std::string& key, DType dtype,
                         std::optional<std::size_t> expected_size) const {
    const auto& tensor = get<TensorData>(key, "Tensor");
    const auto has_size = [&](std::size_t size) {
      return !expected_size || size == *expected_size;
    };
    if (tensor.dtype != dtype || tensor.shape.size() != 1 ||
        !has_size(static_cast<std::size_t>(tensor.shape[0]))) {
      refuse(key,
             fmt::format("expected {} [{}], got {}", dtype_name(dtype),
                         expected_size ? std::to_string(*expected_size) : "n", type_text(tensor)));
    }
    const auto* begin = reinterpret_cast<const T*>(tensor.data);
    return {begin, begin + tensor.shape[0]};
  }

  const std::filesystem::path& path_;
  const Dict& dict_;
  std::string prefix_;
};

}  // namespace trainer::archive
