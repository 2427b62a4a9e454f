// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "trainer/base/text/json.h"

namespace trainer::test {

/// A file of tests/golden, written by the scripts there.
inline Json read_golden(const std::string& name) {
  const std::string path = std::string(TRAINER_SOURCE_DIR) + "/tests/golden/" + name;
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  return Json::parse(file);
}

/// Rows of numbers, one behind the other.
inline std::vector<float> golden_rows(const Json& rows) {
  std::vector<float> values;
  for (const auto& row : rows) {
    for (const auto& value : row) values.push_back(value.get<float>());
  }
  return values;
}

}  // namespace trainer::test
