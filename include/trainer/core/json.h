// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string_view>

#include <nlohmann/json.hpp>

namespace trainer {

/// JSON whose objects keep the order in which their entries were added.
using Json = nlohmann::ordered_json;

/// The value of `text`. Throws Json::parse_error.
Json parse_json(std::string_view text);

/// The value of `text`, or null if it is not valid JSON.
Json parse_json_or_null(std::string_view text);

/// The value of a whole file, or null if the file cannot be read or is not valid JSON.
Json read_json_or_null(const std::filesystem::path& path);

}  // namespace trainer

// Compiled once, in json.cpp: each file that uses the library would take seconds for it.
extern template class nlohmann::basic_json<nlohmann::ordered_map>;
