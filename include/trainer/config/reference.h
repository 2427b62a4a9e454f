// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace trainer {
class Document;
}

namespace trainer::config {

struct Field;

/// Returns docs/configuration.md: all keys with their defaults, accepted values and meanings, as
/// Markdown.
std::string reference_page();

/// Returns the keys that `name` may mean: the key itself ("training.learning_rate"), those of a
/// section ("training"), or those whose last part ("learning_rate"), flag ("lr") or name in another
/// tool ("eta") it is.
std::vector<const Field*> fields_named(std::string_view name);

/// Describes a key: meaning, accepted values, defaults, and how it is set; of several keys, a table
/// with a line for each.
trainer::Document describe(std::span<const Field* const> fields);

/// Returns docs/config.schema.json: a JSON Schema (draft 2020-12) with which editors check
/// configurations.
std::string json_schema();

}  // namespace trainer::config
