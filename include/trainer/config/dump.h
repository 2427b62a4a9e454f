// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "trainer/config/load.h"

namespace trainer::config {

/// All keys with their values as YAML, each with its origin as a comment; a key that waits for the
/// data is a comment. Loading the text gives the same Config.
std::string dump(const Loaded& loaded);

/// A key whose value differs between two configurations.
struct Difference {
  std::string key;
  std::string before;
  std::string after;
};

/// The differences between two configurations; keys that wait for the data in one of them are none.
std::vector<Difference> differences(const Config& before, const Config& after);

/// Those of keys that a resumed run may not change.
std::vector<Difference> fixed_differences(const Config& before, const Config& after);

}  // namespace trainer::config
