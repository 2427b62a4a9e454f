// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace trainer::config {

struct Config;

/// The limits of a number. A limit that is not set does not apply.
struct Bounds {
  std::optional<double> min;    // value >= min
  std::optional<double> above;  // value > above
  std::optional<double> max;    // value <= max
  std::optional<double> below;  // value < below
};

/// Access to one member of a Config, for writing and for reading.
template <typename T>
struct Member {
  T& (*to_write)(Config&) = nullptr;
  const T& (*to_read)(const Config&) = nullptr;

  /// Returns a reference to the member in `config`.
  T& operator()(Config& config) const { return to_write(config); }
  const T& operator()(const Config& config) const { return to_read(config); }
};

/// A key whose value is an integer within bounds.
struct IntegerAccess {
  Member<int64_t> member;
  Bounds bounds;
  std::string zero_word;  // a word for 0, such as "auto"; empty: none
};

/// A key whose value is a finite number within bounds.
struct NumberAccess {
  Member<double> member;
  Bounds bounds;
};

/// A key whose value is true or false.
struct BoolAccess {
  Member<bool> member;
};

/// A key whose value is one of some words, or a text for which `valid` is true (nullptr: any text).
struct TextAccess {
  Member<std::string> member;
  std::string expected;  // what is accepted besides the words, for messages
  bool (*valid)(std::string_view) = nullptr;
  std::vector<std::string> words = {};
  bool is_column = false;  // the text is the name of a column of the table
};

/// A key whose value is the path of a file or folder. In a file, a relative path starts at the
/// folder of that file; on the command line, at the working directory. After loading it is
/// absolute.
struct PathAccess {
  Member<std::string> member;
  std::vector<std::string> words = {};  // accepted words that are not paths, such as "auto"
};

/// A key whose value is one of an enumeration; `names` are in the order of its values.
struct ChoiceAccess {
  std::span<const std::string> names;
  std::function<int(const Config&)> get;
  std::function<void(Config&, int)> set;
};

/// A key whose value is a list of integers.
struct IntegerListAccess {
  Member<std::vector<int64_t>> member;
  Bounds bounds;  // of each element
};

/// A key whose value is a list of texts.
struct TextListAccess {
  Member<std::vector<std::string>> member;
  bool are_columns = false;  // the texts are names of columns of the table
};

/// How a key is read from and written to a Config, and what it accepts.
using Access = std::variant<IntegerAccess, NumberAccess, BoolAccess, TextAccess, PathAccess,
                            ChoiceAccess, IntegerListAccess, TextListAccess>;

/// Whether a resumed run may have another value of a key than the run that it continues.
enum class OnResume { kFixed, kMayChange };

/// A configuration key. Parsing, overrides, errors, flags, the resolved configuration, the
/// reference page and the JSON Schema are all derived from the table of these.
struct Field {
  std::string path;  // "training.learning_rate"
  Access access;
  std::string help;                  // one or two sentences
  std::string flag;                  // short form on the command line, such as "--lr"; may be empty
  std::vector<std::string> aliases;  // its names in other tools, only for suggestions
  OnResume on_resume = OnResume::kFixed;
};

/// Returns the table of all keys, in the order of the reference page.
const std::vector<Field>& fields();

/// Returns the field at `path`, or nullptr if there is no such key.
const Field* find_field(std::string_view path);

/// Returns the first part of the field's path, such as "training"; empty for a key without a
/// section.
std::string section_of(const Field& field);

/// Returns whether some key begins with `path` and a dot.
bool is_section(std::string_view path);

// The functions below are implemented in values.cpp.

/// Returns what a field accepts, in words: "a number > 0", "an integer >= 1 or auto", "relu, gelu
/// or tanh".
std::string expected_text(const Access& access);

/// Returns the words that are accepted as values: names of an enumeration, true and false, auto.
std::vector<std::string> words(const Access& access);

/// Returns whether the values are names of columns of the table.
bool names_columns(const Access& access);

/// Returns whether `value` is one of the words of `access` and not a path.
bool is_word(const PathAccess& access, const std::string& value);

/// Returns `text` as a scalar of YAML: plain if that is read back as the same text, else in double
/// quotes as in JSON.
std::string yaml_text(const std::string& text);

/// Returns `text` as it is typed on the command line, as the value or as an element of a list:
/// plain if that is read as the same text, else as in yaml_text().
std::string typed_text(const Access& access, const std::string& text);

/// Returns the value of a field as one line of YAML.
std::string value_text(const Field& field, const Config& config);

/// Returns the value of the field at `path`, which must exist, as one line of YAML.
std::string value_text(std::string_view path, const Config& config);

}  // namespace trainer::config
