// SPDX-License-Identifier: Apache-2.0
#include "trainer/base/text/json.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>

#include <fmt/format.h>

#include "trainer/base/error.h"
#include "trainer/base/io/read_text.h"
#include "trainer/base/text/format.h"

template class nlohmann::basic_json<nlohmann::ordered_map>;

namespace trainer {
namespace {

// The library copies, compares and writes nested values by recursion, so 100,000 nested brackets
// would overflow the stack.
bool is_nested_deeper(std::string_view text, int max_depth) {
  int depth = 0;
  bool is_in_text = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (is_in_text) {
      if (c == '\\') ++i;
      is_in_text = c != '"';
    } else if (c == '"') {
      is_in_text = true;
    } else if (c == '[' || c == '{') {
      if (++depth > max_depth) return true;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return false;
}

}  // namespace

Json parse_json(std::string_view text) { return Json::parse(text); }

Json parse_json_or_null(std::string_view text) {
  if (is_nested_deeper(text, kMaxJsonDepth)) return {};
  Json value = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (value.is_discarded()) value = nullptr;
  return value;
}

namespace {

std::string shown(const Json& value) {
  if (value.is_string()) return in_quotes(value.get_ref<const std::string&>());
  return value.is_primitive() ? value.dump() : value.is_array() ? "a list" : "an object";
}

}  // namespace

JsonReader::JsonReader(Json value, std::string place)
    : document_(std::make_shared<const Document>(Document{std::move(value), std::move(place)})),
      value_(&document_->value) {}

JsonReader JsonReader::of_file(const std::filesystem::path& path) {
  const std::optional<std::string> text = read_text(path);
  if (!text) return JsonReader(Json(), path.string());
  Json value = parse_json_or_null(*text);
  if (value.is_null()) {
    throw Error(
        ErrorKind::kCheckpoint,
        fmt::format("{}: expected JSON nested at most {} deep, got something else; the file "
                    "is damaged",
                    path.string(), kMaxJsonDepth));
  }
  return JsonReader(std::move(value), path.string());
}

bool JsonReader::has(std::string_view key) const { return !(*this)[key].is_null(); }

JsonReader JsonReader::operator[](std::string_view key) const {
  static const Json kNull;
  if (value_->is_null()) return entry(key, kNull);
  if (!value_->is_object()) refuse("an object");
  const auto found = value_->find(key);
  return entry(key, found == value_->end() ? kNull : *found);
}

JsonReader JsonReader::entry(std::string_view key, const Json& value) const {
  return {document_, &value, key_.empty() ? std::string(key) : fmt::format("{}.{}", key_, key)};
}

std::vector<JsonReader> JsonReader::elements() const {
  if (!value_->is_array() && !value_->is_null()) refuse("a list");
  std::vector<JsonReader> elements;
  elements.reserve(value_->size());
  for (const Json& element : *value_) {
    elements.push_back(
        JsonReader(document_, &element, fmt::format("{}[{}]", key_, elements.size())));
  }
  return elements;
}

std::vector<std::pair<std::string, JsonReader>> JsonReader::entries() const {
  if (!value_->is_object() && !value_->is_null()) refuse("an object");
  std::vector<std::pair<std::string, JsonReader>> entries;
  for (const auto& [key, value] : value_->items()) entries.emplace_back(key, entry(key, value));
  return entries;
}

double JsonReader::number() const {
  if (!value_->is_number()) refuse("a number");
  return value_->get<double>();
}

int64_t JsonReader::integer(int64_t min, int64_t max) const {
  // A double counts as an integer if it is whole and below 2^53, where doubles are exact.
  const bool is_whole = value_->is_number_integer() ||
                        (value_->is_number_float() && std::abs(value_->get<double>()) < 0x1p53 &&
                         std::trunc(value_->get<double>()) == value_->get<double>());
  const bool is_huge = value_->is_number_unsigned() &&
                       value_->get<uint64_t>() > uint64_t{std::numeric_limits<int64_t>::max()};
  if (is_whole && !is_huge) {
    const auto value = value_->get<int64_t>();
    if (min <= value && value <= max) return value;
  }
  refuse(max == std::numeric_limits<int64_t>::max()
             ? fmt::format("an integer >= {}", min)
             : fmt::format("an integer from {} to {}", min, max));
}

const std::string& JsonReader::text() const {
  if (!value_->is_string()) refuse("a text");
  return value_->get_ref<const std::string&>();
}

std::optional<double> JsonReader::number(std::string_view key) const {
  const JsonReader inner = (*this)[key];
  return inner.is_null() ? std::nullopt : std::optional(inner.number());
}

int64_t JsonReader::integer(std::string_view key, int64_t fallback, int64_t min,
                            int64_t max) const {
  const JsonReader inner = (*this)[key];
  return inner.is_null() ? fallback : inner.integer(min, max);
}

std::string JsonReader::text(std::string_view key) const {
  const JsonReader inner = (*this)[key];
  return inner.is_null() ? std::string() : inner.text();
}

void JsonReader::refuse(const std::string& expected) const {
  throw Error(ErrorKind::kCheckpoint,
              fmt::format("{}: {}expected {}, got {}; the file is damaged", document_->place,
                          key_.empty() ? "" : key_ + ": ", expected, shown(*value_)));
}

void read_json_lines(const std::filesystem::path& path,
                     const std::function<void(const JsonReader&)>& add,
                     std::string_view containing) {
  const std::string text = read_text(path).value_or("");
  int64_t number = 0;
  for (std::size_t begin = 0, end = 0; begin < text.size(); begin = end + 1) {
    end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = std::string_view(text).substr(begin, end - begin);
    ++number;
    if (line.find(containing) == std::string::npos) continue;
    Json record = parse_json_or_null(line);
    if (record.is_object()) {
      add(JsonReader(std::move(record), fmt::format("{}:{}", path.string(), number)));
    }
  }
}

}  // namespace trainer
