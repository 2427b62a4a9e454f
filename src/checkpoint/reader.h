// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "trainer/archive/value.h"
#include "trainer/checkpoint/checkpoint.h"
#include "trainer/core/error.h"

namespace trainer::checkpoint {

/// Typed access to a dict of the file; every complaint names the file and the entry.
class Reader {
 public:
  Reader(const std::filesystem::path& path, const archive::Dict& dict, std::string prefix = "")
      : path_(path), dict_(dict), prefix_(std::move(prefix)) {}

  [[noreturn]] void refuse(const std::string& key, const std::string& problem) const {
    throw Error(ErrorKind::kCheckpoint,
                fmt::format("{}: {}{}: {}", path_.string(), prefix_, key, problem));
  }

  bool has(const std::string& key) const { return archive::find(dict_, key) != nullptr; }

  const archive::Value& value(const std::string& key) const {
    const archive::Value* found = archive::find(dict_, key);
    if (found == nullptr) refuse(key, "missing entry");
    return *found;
  }

  template <typename T>
  const T& get(const std::string& key, const char* expected) const {
    const archive::Value& found = value(key);
    const T* typed = found.get_if<T>();
    if (typed == nullptr) {
      refuse(key, fmt::format("expected {}, got {}", expected, archive::type_name(found)));
    }
    return *typed;
  }

  int64_t integer(const std::string& key) const { return get<int64_t>(key, "int"); }
  double number(const std::string& key) const { return get<double>(key, "float"); }
  const std::string& text(const std::string& key) const { return get<std::string>(key, "str"); }
  const archive::List& list(const std::string& key) const {
    return get<archive::List>(key, "list");
  }

  double finite_number(const std::string& key) const {
    const double value = number(key);
    if (!std::isfinite(value)) refuse(key, fmt::format("expected a finite number, got {}", value));
    return value;
  }

  int64_t count(const std::string& key) const {
    const int64_t value = integer(key);
    if (value < 0) refuse(key, fmt::format("expected an integer >= 0, got {}", value));
    return value;
  }

  Reader section(const std::string& key) const {
    return {path_, get<archive::Dict>(key, "dict"), prefix_ + key + "."};
  }

  Reader element(const std::string& key, const archive::Value& value) const {
    const auto* dict = value.get_if<archive::Dict>();
    if (dict == nullptr) {
      refuse(key, fmt::format("expected a list of dict, got {} in it", archive::type_name(value)));
    }
    return {path_, *dict, prefix_ + key + "."};
  }

  std::vector<std::string> texts(const std::string& key) const {
    std::vector<std::string> result;
    for (const archive::Value& element : list(key)) {
      const auto* text = element.get_if<std::string>();
      if (text == nullptr) {
        refuse(key,
               fmt::format("expected a list of str, got {} in it", archive::type_name(element)));
      }
      result.push_back(*text);
    }
    return result;
  }

  std::vector<float> floats(const std::string& key,
                            std::optional<std::size_t> expected_size = {}) const {
    return numbers<float>(key, archive::DType::kFloat32, expected_size);
  }

  /// Finite ones.
  std::vector<double> doubles(const std::string& key, std::size_t expected_size) const {
    std::vector<double> values =
        numbers<double>(key, archive::DType::kFloat64, std::optional(expected_size));
    for (const double value : values) {
      if (!std::isfinite(value)) refuse(key, fmt::format("expected finite numbers, got {}", value));
    }
    return values;
  }

  std::vector<NamedTensor> tensors(const std::string& key) const {
    std::vector<NamedTensor> result;
    const Reader inside = section(key);
    for (const auto& [name, ignored] : inside.dict_) {
      result.push_back({name, inside.get<archive::TensorData>(name, "Tensor")});
    }
    return result;
  }

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
