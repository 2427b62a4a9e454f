// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace trainer::config {

/// docs/configuration.md: every key with default, accepted values and meaning, as Markdown.
std::string reference_page();

/// docs/config.schema.json: a JSON Schema (draft 2020-12) for editors.
std::string json_schema();

}  // namespace trainer::config
