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

/// Limits of a number; those that are not set do not hold.
struct Bounds {
  std::optional<double> min;    // value >= min
  std::optional<double> above;  // value > above
  std::optional<double> max;    // value <= max
  std::optional<double> below;  // value < below
};

/// One member of a configuration.
template <typename T>
struct Member {
  T& (*to_write)(Config&) = nullptr;
  const T& (*to_read)(const Config&) = nullptr;

  /// The member, to write and to read.
  T& operator()(Config& config) const { return to_write(config); }
  const T& operator()(const Config& config) const { return to_read(config); }
};

/// A whole number within bounds.
struct IntegerAccess {
  Member<int64_t> member;
  Bounds bounds;
  std::string zero_word;  // written in place of 0, such as "auto"; empty: none
};

/// A number within bounds.
struct NumberAccess {
  Member<double> member;
  Bounds bounds;
};

/// true or false.
struct BoolAccess {
  Member<bool> member;
};

/// One of some words, or a text that is `valid`.
struct TextAccess {
  Member<std::string> member;
  std::string expected;  // besides the words, for messages
  bool (*valid)(std::string_view) = nullptr;
  std::vector<std::string> words = {};
  bool is_column = false;  // the name of a column of the table
};

/// A file or folder. Relative to the folder of the file that names it; on the command line, to the
/// working directory. Absolute after loading.
struct PathAccess {
  Member<std::string> member;
  std::vector<std::string> words = {};  // such as "auto", which are no paths
};

/// An enumeration; `names` are in the order of its values.
struct ChoiceAccess {
  std::span<const std::string> names;
  std::function<int(const Config&)> get;
  std::function<void(Config&, int)> set;
};

/// A list of whole numbers.
struct IntegerListAccess {
  Member<std::vector<int64_t>> member;
  Bounds bounds;  // of each element
};

/// A list of texts.
struct TextListAccess {
  Member<std::vector<std::string>> member;
  bool are_columns = false;  // names of columns of the table
};

/// How a key is read from and written to a Config, and what it accepts.
using Access = std::variant<IntegerAccess, NumberAccess, BoolAccess, TextAccess, PathAccess,
                            ChoiceAccess, IntegerListAccess, TextListAccess>;

/// Whether a resumed run may have another value of a key than the run that it continues.
enum class OnResume { kFixed, kMayChange };

/// One configuration key. Parsing, overrides, errors, flags, the resolved dump, the reference page
/// and the JSON Schema all come from the table of these.
struct Field {
  std::string path;  // "training.learning_rate"
  Access access;
  std::string help;                  // one or two sentences
  std::string flag;                  // short form on the command line, such as "--lr"; may be empty
  std::vector<std::string> aliases;  // its names in other tools, for suggestions only
  OnResume on_resume = OnResume::kFixed;
};

/// All keys, in the order of the reference page.
const std::vector<Field>& fields();

/// The field at `path`, or nullptr.
const Field* find_field(std::string_view path);

/// The first part of its path: "training"; empty for a key without a section.
std::string section_of(const Field& field);

/// Whether some key begins with `path` and a dot.
bool is_section(std::string_view path);

// Implemented in values.cpp.

/// What a field accepts, in words: "a number > 0", "an integer >= 1 or auto", "relu, gelu or tanh".
std::string expected_text(const Access& access);

/// The values that are words: those of an enumeration, true and false, auto.
std::vector<std::string> words(const Access& access);

/// Whether the values are names of columns of the table.
bool names_columns(const Access& access);

/// Whether `value` is one of the words of `access`, not a path.
bool is_word(const PathAccess& access, const std::string& value);

/// `text` as a scalar of YAML: plain where it is read back as the same text, else in double quotes
/// as JSON writes it.
std::string yaml_text(const std::string& text);

/// `text` as it is given on the command line, as the value or as an element of a list: plain where
/// that is read as the same text, else as yaml_text().
std::string typed_text(const Access& access, const std::string& text);

/// The value of a field as one line of YAML.
std::string value_text(const Field& field, const Config& config);

/// Of the field at `path`, which must exist.
std::string value_text(std::string_view path, const Config& config);

}  // namespace trainer::config
