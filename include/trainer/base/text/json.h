// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace trainer {

/// JSON whose objects keep the order in which their entries were added.
using Json = nlohmann::ordered_json;

/// The maximum nesting depth of JSON values that are read from files.
inline constexpr int kMaxJsonDepth = 100;

/// Parses a text that this program made, without a limit of its depth. Throws Json::parse_error.
Json parse_json(std::string_view text);

/// The value of `text`, or null if it is not valid JSON or nested deeper than kMaxJsonDepth. Files
/// are read with a JsonReader.
Json parse_json_or_null(std::string_view text);

}  // namespace trainer

// Compiled once, in json.cpp: each file that uses the library would take seconds for it.
extern template class nlohmann::basic_json<nlohmann::ordered_map>;

namespace trainer {

/// A value in a JSON file that users may have edited, such as a file of a run folder. Each access
/// checks the type and the range. An absent or null value has a default; one of another type or out
/// of range throws an Error(kCheckpoint) that names the file, the key ("test.rows") and what was
/// expected.
class JsonReader {
 public:
  /// The value of a whole file; null if there is none. Throws Error(kCheckpoint) if it is not JSON
  /// or has values nested deeper than kMaxJsonDepth.
  static JsonReader of_file(const std::filesystem::path& path);

  /// A value whose file or line messages call `place`: "metrics.jsonl:3".
  explicit JsonReader(Json value, std::string place = "value");

  /// The value itself, to show or copy it unchecked.
  const Json& json() const { return *value_; }
  bool is_null() const { return value_->is_null(); }
  bool is_number() const { return value_->is_number(); }
  /// Whether there is an entry of this name that is not null.
  bool has(std::string_view key) const;

  /// An entry of an object; null if the entry is absent or this value is null.
  JsonReader operator[](std::string_view key) const;
  /// The elements of a list. Null has none.
  std::vector<JsonReader> elements() const;
  /// The entries of an object, in their order. Null has none.
  std::vector<std::pair<std::string, JsonReader>> entries() const;

  /// The value as a number; throws Error(kCheckpoint) if it is not a number.
  double number() const;
  /// The value as an integer from `min` to `max`; a double counts if it is whole and exact.
  int64_t integer(int64_t min = 0, int64_t max = std::numeric_limits<int64_t>::max()) const;
  /// The value as a string; throws Error(kCheckpoint) if it is not a string.
  const std::string& text() const;

  /// The number of an entry; nothing if the entry is absent.
  std::optional<double> number(std::string_view key) const;
  /// The integer of an entry, from `min` to `max`; `fallback` if the entry is absent.
  int64_t integer(std::string_view key, int64_t fallback = 0, int64_t min = 0,
                  int64_t max = std::numeric_limits<int64_t>::max()) const;
  /// The string of an entry; empty if the entry is absent.
  std::string text(std::string_view key) const;

  /// Throws the Error(kCheckpoint) that `expected` ("a number") was expected in place of this
  /// value.
  [[noreturn]] void refuse(const std::string& expected) const;

 private:
  struct Document {
    Json value;
    std::string place;
  };

  JsonReader(std::shared_ptr<const Document> document, const Json* value, std::string key)
      : document_(std::move(document)), value_(value), key_(std::move(key)) {}

  // A reader of `value`, whose key in messages is the key of this one, a dot and `key`.
  JsonReader entry(std::string_view key, const Json& value) const;

  std::shared_ptr<const Document> document_;
  const Json* value_;
  std::string key_;
};

/// Calls `add` with each line of a file that is a JSON object. Skips other lines, such as one that
/// a crash cut off, and lines that do not contain `containing`, which are not even parsed.
void read_json_lines(const std::filesystem::path& path,
                     const std::function<void(const JsonReader&)>& add,
                     std::string_view containing = "");

}  // namespace trainer
