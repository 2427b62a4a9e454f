// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "trainer/config/fields.h"

namespace YAML {
class Node;
}

namespace trainer::config {

/// Sets the field from a YAML value. Returns nothing, or else what is wrong: `expected a number >
/// 0, got "fast"`. Relative paths start at `folder`.
std::optional<std::string> assign(const Field& field, Config& config, const YAML::Node& node,
                                  const std::filesystem::path& folder);

/// Sets the field back to its default.
void reset(const Field& field, Config& config);

/// Returns whether a value of the command line is taken literally, without YAML's meaning of
/// special characters.
bool takes_raw_text(const Field& field);

}  // namespace trainer::config
