// SPDX-License-Identifier: Apache-2.0
#include "trainer/base/archive/dict_reader.h"

#include <cmath>

#include <fmt/format.h>

#include "trainer/base/error.h"

namespace trainer::archive {

void DictReader::refuse(const std::string& key, const std::string& problem) const {
  throw Error(ErrorKind::kCheckpoint,
              fmt::format("{}: {}{}: {}", path_.string(), prefix_, key, problem));
}

const Value& DictReader::value(const std::string& key) const {
  const Value* found = find(dict_, key);
  if (found == nullptr) refuse(key, "missing entry");
  return *found;
}

double DictReader::finite_number(const std::string& key) const {
  const double value = number(key);
  if (!std::isfinite(value)) refuse(key, fmt::format("expected a finite number, got {}", value));
  return value;
}

int64_t DictReader::count(const std::string& key) const {
  const int64_t value = integer(key);
  if (value < 0) refuse(key, fmt::format("expected an integer >= 0, got {}", value));
  return value;
}

DictReader DictReader::element(const std::string& key, const Value& value) const {
  const auto* dict = value.get_if<Dict>();
  if (dict == nullptr) {
    refuse(key, fmt::format("expected a list of dict, got {} in it", type_name(value)));
  }
  return {path_, *dict, prefix_ + key + "."};
}

std::vector<std::string> DictReader::texts(const std::string& key) const {
  std::vector<std::string> result;
  for (const Value& element : list(key)) {
    const auto* text = element.get_if<std::string>();
    if (text == nullptr) {
      refuse(key, fmt::format("expected a list of str, got {} in it", type_name(element)));
    }
    result.push_back(*text);
  }
  return result;
}

std::vector<double> DictReader::doubles(const std::string& key, std::size_t expected_size) const {
  std::vector<double> values = numbers<double>(key, DType::kFloat64, std::optional(expected_size));
  for (const double value : values) {
    if (!std::isfinite(value)) refuse(key, fmt::format("expected finite numbers, got {}", value));
  }
  return values;
}

std::vector<NamedTensor> DictReader::tensors(const std::string& key) const {
  std::vector<NamedTensor> result;
  const DictReader inside = section(key);
  for (const auto& [name, ignored] : inside.dict_) {
    result.push_back({name, inside.get<TensorData>(name, "Tensor")});
  }
  return result;
}

}  // namespace trainer::archive
