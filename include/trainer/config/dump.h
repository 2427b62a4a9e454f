// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "trainer/config/load.h"

namespace trainer::config {

/// Returns all keys with their values as YAML, each followed by its origin in a comment. A key that
/// waits for the data is a comment itself. Loading the text gives the same Config.
std::string dump(const Loaded& loaded);

/// A key whose value differs between two configurations, with both values as YAML.
struct Difference {
  std::string key;
  std::string before;
  std::string after;
};

/// Returns the keys whose values differ, in the order of fields(). Keys whose values are not known
/// yet in one of the configurations are left out.
std::vector<Difference> differences(const Config& before, const Config& after);

/// Returns only those differences that a resumed run is not allowed to have.
std::vector<Difference> fixed_differences(const Config& before, const Config& after);

}  // namespace trainer::config
