// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include <nlohmann/json.hpp>

namespace trainer {

/// JSON whose objects keep the order in which their entries were added.
using Json = nlohmann::ordered_json;

/// The maximum nesting depth of JSON values that are read from files.
inline constexpr int kMaxJsonDepth = 100;

/// Parses a text that this program made, without a limit of its depth. Throws Json::parse_error.
Json parse_json(std::string_view text);

/// The value of `text`, or null if it is not valid JSON or nested deeper than kMaxJsonDepth. Files
/// are read with a JsonReader (json_reader.h).
Json parse_json_or_null(std::string_view text);

}  // namespace trainer

// Compiled once, in json.cpp: each file that uses the library would take seconds for it.
extern template class nlohmann::basic_json<nlohmann::ordered_map>;
