// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace trainer::config {

/// Returns docs/configuration.md: all keys with their defaults, accepted values and meanings, as
/// Markdown.
std::string reference_page();

/// Returns docs/config.schema.json: a JSON Schema (draft 2020-12) with which editors check
/// configurations.
std::string json_schema();

}  // namespace trainer::config
