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

/// Sets the field from a YAML value, or returns what is wrong: `expected a number > 0, got "fast"`.
/// Relative paths start at `folder`.
std::optional<std::string> assign(const Field& field, Config& config, const YAML::Node& node,
                                  const std::filesystem::path& folder);

/// Sets the field back to its default.
void reset(const Field& field, Config& config);

/// Whether a value given as text is taken as it stands, without YAML's meaning of its characters.
bool takes_raw_text(const Field& field);

}  // namespace trainer::config
