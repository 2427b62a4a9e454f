// SPDX-License-Identifier: Apache-2.0
#include "config/values.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <type_traits>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <yaml-cpp/yaml.h>

#include "trainer/base/io/user_folders.h"
#include "trainer/base/text/format.h"
#include "trainer/base/text/json.h"
#include "trainer/base/text/parse.h"
#include "trainer/base/text/suggest.h"
#include "trainer/config/config.h"

namespace trainer::config {
namespace {

using Problem = std::optional<std::string>;

std::string describe(const YAML::Node& node) {
  if (node.IsMap()) return "a mapping";
  if (node.IsNull()) return "null";
  if (node.IsSequence()) {
    return fmt::format("a list of {} value{}", node.size(), node.size() == 1 ? "" : "s");
  }
  return in_quotes(node.Scalar());
}

Problem expected(const std::string& what, const YAML::Node& node) {
  return fmt::format("expected {}, got {}", what, describe(node));
}

std::string bounds_text(const Bounds& bounds) {
  std::string text;
  const auto add = [&](const std::optional<double>& limit, const char* sign) {
    if (limit) text += fmt::format("{} {} {}", text.empty() ? "" : " and", sign, shortest(*limit));
  };
  add(bounds.min, ">=");
  add(bounds.above, ">");
  add(bounds.max, "<=");
  add(bounds.below, "<");
  return text;
}

bool within(const Bounds& bounds, double value) {
  return std::isfinite(value) && (!bounds.min || value >= *bounds.min) &&
         (!bounds.above || value > *bounds.above) && (!bounds.max || value <= *bounds.max) &&
         (!bounds.below || value < *bounds.below);
}

// A quoted "5" is a string in YAML and not a number.
bool is_quoted(const YAML::Node& node) { return node.Tag() == "!"; }

std::optional<int64_t> integer_in(const YAML::Node& node, const Bounds& bounds) {
  if (!node.IsScalar() || is_quoted(node)) return std::nullopt;
  const std::optional<int64_t> value = parse_int(node.Scalar());
  if (!value || !within(bounds, static_cast<double>(*value))) return std::nullopt;
  return value;
}

// Splits a list that is given without brackets: "8" or "64,32".
YAML::Node elements_of(std::string_view text) {
  YAML::Node elements(YAML::NodeType::Sequence);
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    std::string_view element = text.substr(begin, end - begin);
    while (!element.empty() && element.front() == ' ') element.remove_prefix(1);
    while (!element.empty() && element.back() == ' ') element.remove_suffix(1);
    elements.push_back(std::string(element));
    begin = end + 1;
  }
  return elements;
}

bool contains(const std::vector<std::string>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Returns "WORDS or OTHER" for messages; only `other` if there are no words.
std::string words_or(const std::vector<std::string>& words, const std::string& other) {
  return words.empty() ? other : joined(words, ", ") + " or " + other;
}

// Returns whether `text`, written without quotes as an element of a list, is read as the same text.
bool is_plain_element(const std::string& text) {
  try {
    const YAML::Node list = YAML::Load("[" + text + "]");
    return list.IsSequence() && list.size() == 1 && list[0].IsScalar() &&
           list[0].Scalar() == text && !is_quoted(list[0]);
  } catch (const YAML::Exception&) {
    return false;
  }
}

struct Assigner {
  Config& config;
  const YAML::Node& node;
  const std::filesystem::path& folder;

  Problem operator()(const IntegerAccess& access) const {
    if (!access.zero_word.empty() && node.IsScalar() && node.Scalar() == access.zero_word) {
      access.member(config) = 0;
      return {};
    }
    const std::optional<int64_t> value = integer_in(node, access.bounds);
    if (!value) return expected(expected_text(access), node);
    access.member(config) = *value;
    return {};
  }

  Problem operator()(const NumberAccess& access) const {
    std::optional<double> value;
    if (node.IsScalar() && !is_quoted(node)) value = parse_double(node.Scalar());
    if (!value || !within(access.bounds, *value)) return expected(expected_text(access), node);
    access.member(config) = *value;
    return {};
  }

  Problem operator()(const BoolAccess& access) const {
    const bool is_true = node.IsScalar() && node.Scalar() == "true";
    const bool is_false = node.IsScalar() && node.Scalar() == "false";
    if (is_quoted(node) || (!is_true && !is_false)) return expected(expected_text(access), node);
    access.member(config) = is_true;
    return {};
  }

  Problem operator()(const TextAccess& access) const {
    if (!node.IsScalar()) return expected(expected_text(access), node);
    const std::string& text = node.Scalar();
    if (access.valid != nullptr && !contains(access.words, text) && !access.valid(text)) {
      return expected(expected_text(access), node);
    }
    access.member(config) = text;
    return {};
  }

  Problem operator()(const PathAccess& access) const {
    if (!node.IsScalar()) return expected(expected_text(access), node);
    if (is_word(access, node.Scalar())) {
      access.member(config) = node.Scalar();
      return {};
    }
    // The shell does not expand the ~ of output_dir=~/runs, because it is not at the start of a
    // word.
    const auto path = with_home(node.Scalar());
    if (!path) {
      return fmt::format("expected a path without ~ because HOME names no home folder, got {}",
                         in_quotes(node.Scalar()));
    }
    access.member(config) =
        path->empty() ? "" : std::filesystem::absolute(folder / *path).lexically_normal().string();
    return {};
  }

  Problem operator()(const ChoiceAccess& access) const {
    if (!node.IsScalar()) return expected(expected_text(access), node);
    const auto found =
        std::find(access.names.begin(), access.names.end(), lower_case(node.Scalar()));
    if (found == access.names.end()) {
      std::string text = *expected(expected_text(access), node);
      if (const auto near = nearest_word(node.Scalar(), access.names)) {
        text += fmt::format("; did you mean \"{}\"?", *near);
      }
      return text;
    }
    access.set(config, static_cast<int>(found - access.names.begin()));
    return {};
  }

  Problem operator()(const IntegerListAccess& access) const {
    if (!node.IsScalar() && !node.IsSequence()) return expected(expected_text(access), node);
    std::vector<int64_t> values;
    for (const YAML::Node& element : node.IsScalar() ? elements_of(node.Scalar()) : node) {
      const std::optional<int64_t> value = integer_in(element, access.bounds);
      if (!value) {
        return fmt::format("element {}: expected an integer{}, got {}", values.size() + 1,
                           bounds_text(access.bounds), describe(element));
      }
      values.push_back(*value);
    }
    access.member(config) = std::move(values);
    return {};
  }

  Problem operator()(const TextListAccess& access) const {
    std::vector<std::string> values;
    if (node.IsScalar()) values.push_back(node.Scalar());  // a single text is a list of one
    if (!node.IsScalar() && !node.IsSequence()) return expected(expected_text(access), node);
    for (const YAML::Node& element : node) {
      if (!element.IsScalar()) {
        return fmt::format("element {}: expected a string, got {}{}", values.size() + 1,
                           describe(element),
                           element.IsNull() ? "; put it in quotes: \"null\"" : "");
      }
      values.push_back(element.Scalar());
    }
    access.member(config) = std::move(values);
    return {};
  }
};

}  // namespace

std::optional<std::string> assign(const Field& field, Config& config, const YAML::Node& node,
                                  const std::filesystem::path& folder) {
  return std::visit(Assigner{config, node, folder}, field.access);
}

void reset(const Field& field, Config& config) {
  static const Config kDefaults;
  std::visit(
      [&](const auto& access) {
        using T = std::decay_t<decltype(access)>;
        if constexpr (std::is_same_v<T, ChoiceAccess>) {
          access.set(config, access.get(kDefaults));
        } else {
          access.member(config) = access.member(kDefaults);
        }
      },
      field.access);
}

bool takes_raw_text(const Field& field) {
  return std::holds_alternative<TextAccess>(field.access) ||
         std::holds_alternative<PathAccess>(field.access) ||
         std::holds_alternative<ChoiceAccess>(field.access);
}

std::string yaml_text(const std::string& text) {
  const auto plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '/' ||
           c == '-';
  };
  const bool is_plain = !text.empty() && std::all_of(text.begin(), text.end(), plain) &&
                        text.front() != '-' && text.front() != '.' && lower_case(text) != "null";
  if (is_plain) return text;
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string expected_text(const Access& access) {
  struct Describer {
    std::string operator()(const IntegerAccess& a) const {
      const std::string number = "an integer" + bounds_text(a.bounds);
      return a.zero_word.empty() ? number : number + " or " + a.zero_word;
    }
    std::string operator()(const NumberAccess& a) const {
      return "a number" + bounds_text(a.bounds);
    }
    std::string operator()(const BoolAccess&) const { return "true or false"; }
    std::string operator()(const TextAccess& a) const { return words_or(a.words, a.expected); }
    std::string operator()(const PathAccess& a) const { return words_or(a.words, "a path"); }
    std::string operator()(const ChoiceAccess& a) const { return joined(a.names, " or "); }
    std::string operator()(const IntegerListAccess& a) const {
      return "a list of integers" + bounds_text(a.bounds);
    }
    std::string operator()(const TextListAccess&) const { return "a string or a list of strings"; }
  };
  return std::visit(Describer{}, access);
}

std::vector<std::string> words(const Access& access) {
  using Words = std::vector<std::string>;
  struct Finder {
    Words operator()(const IntegerAccess& a) const {
      return a.zero_word.empty() ? Words() : Words{a.zero_word};
    }
    Words operator()(const NumberAccess&) const { return {}; }
    Words operator()(const BoolAccess&) const { return {"true", "false"}; }
    Words operator()(const TextAccess& a) const { return a.words; }
    Words operator()(const PathAccess& a) const { return a.words; }
    Words operator()(const ChoiceAccess& a) const { return {a.names.begin(), a.names.end()}; }
    Words operator()(const IntegerListAccess&) const { return {}; }
    Words operator()(const TextListAccess&) const { return {}; }
  };
  return std::visit(Finder{}, access);
}

bool names_columns(const Access& access) {
  const auto* one = std::get_if<TextAccess>(&access);
  const auto* several = std::get_if<TextListAccess>(&access);
  return (one != nullptr && one->is_column) || (several != nullptr && several->are_columns);
}

std::string typed_text(const Access& access, const std::string& text) {
  const bool is_plain = std::holds_alternative<TextListAccess>(access)
                            ? is_plain_element(text)
                            : text != "null" && !text.starts_with('"');
  return is_plain ? text : yaml_text(text);
}

bool is_word(const PathAccess& access, const std::string& value) {
  return contains(access.words, value);
}

std::string value_text(const Field& field, const Config& config) {
  struct Writer {
    const Config& config;
    std::string operator()(const IntegerAccess& a) const {
      const int64_t value = a.member(config);
      return value == 0 && !a.zero_word.empty() ? a.zero_word : fmt::format("{}", value);
    }
    std::string operator()(const NumberAccess& a) const { return shortest(a.member(config)); }
    std::string operator()(const BoolAccess& a) const {
      return a.member(config) ? "true" : "false";
    }
    std::string operator()(const TextAccess& a) const { return yaml_text(a.member(config)); }
    std::string operator()(const PathAccess& a) const { return yaml_text(a.member(config)); }
    std::string operator()(const ChoiceAccess& a) const {
      return a.names[static_cast<std::size_t>(a.get(config))];
    }
    std::string operator()(const IntegerListAccess& a) const {
      return fmt::format("[{}]", fmt::join(a.member(config), ", "));
    }
    std::string operator()(const TextListAccess& a) const {
      std::vector<std::string> parts;
      for (const std::string& text : a.member(config)) parts.push_back(yaml_text(text));
      return fmt::format("[{}]", fmt::join(parts, ", "));
    }
  };
  return std::visit(Writer{config}, field.access);
}

std::string value_text(std::string_view path, const Config& config) {
  return value_text(*find_field(path), config);
}

}  // namespace trainer::config
