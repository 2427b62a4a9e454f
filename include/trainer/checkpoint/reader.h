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

#include "trainer/archive/value.h"
#include "trainer/checkpoint/checkpoint.h"
#include "trainer/core/enum_names.h"

namespace trainer::checkpoint {

/// Typed access to a dict of the file; every complaint names the file and the entry.
class Reader {
 public:
  Reader(const std::filesystem::path& path, const archive::Dict& dict, std::string prefix = "")
      : path_(path), dict_(dict), prefix_(std::move(prefix)) {}

  /// Throws Error(kCheckpoint): "{file}: {entry}: {problem}", as all functions below do for an
  /// entry that is missing or not what its name says.
  [[noreturn]] void refuse(const std::string& key, const std::string& problem) const;

  /// Whether there is such an entry.
  bool has(const std::string& key) const { return archive::find(dict_, key) != nullptr; }

  /// The entry, whatever it is.
  const archive::Value& value(const std::string& key) const;

  /// The entry as a T, which messages call `expected`.
  template <typename T>
  const T& get(const std::string& key, const char* expected) const {
    const archive::Value& found = value(key);
    const T* typed = found.get_if<T>();
    if (typed == nullptr) {
      refuse(key, fmt::format("expected {}, got {}", expected, archive::type_name(found)));
    }
    return *typed;
  }

  /// A whole number.
  int64_t integer(const std::string& key) const { return get<int64_t>(key, "int"); }
  /// A number with a fraction, which may be NaN.
  double number(const std::string& key) const { return get<double>(key, "float"); }
  /// A text.
  const std::string& text(const std::string& key) const { return get<std::string>(key, "str"); }
  /// A value of an enumeration, by its name.
  template <typename Enum>
  Enum choice(const std::string& key) const {
    const std::optional<Enum> value = from_text<Enum>(text(key));
    if (!value) {
      refuse(key, fmt::format("expected {}, got \"{}\"", fmt::join(enum_names<Enum>(), " or "),
                              text(key)));
    }
    return *value;
  }

  /// A list of anything.
  const archive::List& list(const std::string& key) const {
    return get<archive::List>(key, "list");
  }

  /// A number that is neither NaN nor infinite.
  double finite_number(const std::string& key) const;

  /// A whole number of at least 0.
  int64_t count(const std::string& key) const;

  /// A dict within this one.
  Reader section(const std::string& key) const {
    return {path_, get<archive::Dict>(key, "dict"), prefix_ + key + "."};
  }

  /// `value`, an element of the list `key`, as a dict.
  Reader element(const std::string& key, const archive::Value& value) const;

  /// A list of texts.
  std::vector<std::string> texts(const std::string& key) const;

  /// A float32 tensor with one dimension, and that many elements if any are expected.
  std::vector<float> floats(const std::string& key,
                            std::optional<std::size_t> expected_size = {}) const {
    return numbers<float>(key, archive::DType::kFloat32, expected_size);
  }

  /// A float64 tensor of finite numbers.
  std::vector<double> doubles(const std::string& key, std::size_t expected_size) const;

  /// A dict of tensors.
  std::vector<NamedTensor> tensors(const std::string& key) const;

  /// All entries.
  const archive::Dict& dict() const { return dict_; }

 private:
  template <typename T>
  std::vector<T> numbers(const std::string& key, archive::DType dtype,
                         std::optional<std::size_t> expected_size) const {
    const auto& tensor = get<archive::TensorData>(key, "Tensor");
    const auto has_size = [&](std::size_t size) {
      return !expected_size || size == *expected_size;
    };
    if (tensor.dtype != dtype || tensor.shape.size() != 1 ||
        !has_size(static_cast<std::size_t>(tensor.shape[0]))) {
      refuse(key, fmt::format("expected {} [{}], got {}", archive::dtype_name(dtype),
                              expected_size ? std::to_string(*expected_size) : "n",
                              archive::type_text(tensor)));
    }
    const auto* begin = reinterpret_cast<const T*>(tensor.data);
    return {begin, begin + tensor.shape[0]};
  }

  const std::filesystem::path& path_;
  const archive::Dict& dict_;
  std::string prefix_;
};

}  // namespace trainer::checkpoint
