// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include <nlohmann/json.hpp>

namespace trainer {

/// JSON whose objects keep the order in which their entries were added.
using Json = nlohmann::ordered_json;

/// How deep values that come from files may be nested.
inline constexpr int kMaxJsonDepth = 100;

/// The value of a text of this program. Throws Json::parse_error.
Json parse_json(std::string_view text);

/// The value of `text`, or null if it is not valid JSON or nested deeper than kMaxJsonDepth. What
/// comes from a file is read with a JsonReader (json_reader.h).
Json parse_json_or_null(std::string_view text);

}  // namespace trainer

// Compiled once, in json.cpp: each file that uses the library would take seconds for it.
extern template class nlohmann::basic_json<nlohmann::ordered_map>;
