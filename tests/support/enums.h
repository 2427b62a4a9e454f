// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "trainer/base/text/enum_names.h"

namespace trainer::test {

/// All values of an enumeration with names, so that a test has those that are added later.
template <class Enum>
std::vector<Enum> every() {
  std::vector<Enum> values;
  for (std::size_t i = 0; i < enum_names<Enum>().size(); ++i) values.push_back(Enum(i));
  return values;
}

}  // namespace trainer::test
