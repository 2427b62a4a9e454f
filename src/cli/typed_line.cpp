// SPDX-License-Identifier: Apache-2.0
#include "cli/typed_line.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <string_view>

#include <fmt/format.h>

namespace trainer::cli {
namespace {

struct ValueSetter {
  const std::string& text;

  void operator()(bool* flag) const { *flag = true; }
  void operator()(std::string* value) const { *value = text; }
  void operator()(std::optional<std::string>* value) const { *value = text; }
  void operator()(std::vector<std::string>* values) const { values->push_back(text); }
};

class LineReader {
 public:
  explicit LineReader(Program& program) : program_(program) {
    line_.command = &program.commands.front();
  }

  void read(const std::string& word) {
    if (line_.awaiting != nullptr) {
      set(*line_.awaiting, word);
      line_.awaiting = nullptr;
    } else if (word.starts_with("--") && word.size() > 2) {
      const std::size_t equals = word.find('=');
      read_flag(word.substr(0, equals), equals == std::string::npos
                                            ? std::nullopt
                                            : std::optional(word.substr(equals + 1)));
    } else if (word.starts_with('-') && word.size() > 1) {
      read_short_flags(word);
    } else {
      read_argument(word);
    }
  }

  TypedLine finish() {
    Problems ignored;
    line_.common = program_.flags.read({}, {}, ignored);
    return std::move(line_);
  }

 private:
  void set(const Option& option, const std::string& value) {
    std::visit(ValueSetter{value}, option.target);
    line_.given[option.names] = value;
  }

  const Option* find(std::string_view name) const {
    const std::vector<const Option*> options = options_of(program_, line_);
    const auto found = std::find_if(options.begin(), options.end(),
                                    [&](const Option* one) { return has_name(*one, name); });
    return found == options.end() ? nullptr : *found;
  }

  // The argument of the program that takes keys, wherever they stand.
  const Option* keys_option() const {
    const std::vector<const Option*> options = options_of(program_, line_);
    return *std::find_if(options.begin(), options.end(), [](const Option* one) {
      return is_positional(*one) && is_repeatable(*one) && one->value_name == kKeyValue;
    });
  }

  void read_flag(const std::string& name, const std::optional<std::string>& value) {
    const Option* option = find(name);
    if (option == nullptr) return;
    if (is_flag(*option) || value) {
      set(*option, value.value_or(""));
    } else {
      line_.awaiting = option;
    }
  }

  // Reads one word with short flags: "-qv", "-c" (the value is the next word) or "-cFILE".
  void read_short_flags(const std::string& word) {
    for (std::size_t i = 1; i < word.size(); ++i) {
      const Option* option = find(fmt::format("-{}", word[i]));
      if (option == nullptr) return;
      const bool ends = !is_flag(*option) && i + 1 < word.size();
      read_flag(fmt::format("-{}", word[i]),
                ends ? std::optional(word.substr(i + 1)) : std::nullopt);
      if (ends) return;
    }
  }

  void read_argument(const std::string& word) {
    const std::string name = line_.group.empty() ? word : line_.group + " " + word;
    const bool may_be_command = !line_.is_named || !line_.group.empty();
    TableCommand* command = may_be_command ? program_.find(name) : nullptr;
    if (command != nullptr) {
      line_.is_named = true;
      line_.group = command->command == nullptr ? name : "";
      if (line_.group.empty()) line_.command = command;
      return;
    }
    if (line_.is_named && is_key_value(word)) {
      set(*keys_option(), word);
      return;
    }
    if (const Option* option = next_argument(program_, line_)) set(*option, word);
    line_.arguments.push_back(word);
  }

  Program& program_;
  TypedLine line_;
};

}  // namespace

TypedLine read_typed_line(Program& program, std::span<const std::string> words) {
  LineReader reader(program);
  for (const std::string& word : words) reader.read(word);
  return reader.finish();
}

std::vector<const Option*> options_of(const Program& program, const TypedLine& line) {
  std::vector<const Option*> options;
  const auto add = [&](const std::vector<Option>& all) {
    for (const Option& option : all) options.push_back(&option);
  };
  if (line.is_named) add(line.command->options);
  add(program.spec.options);
  add(program.spec.default_options);
  add(program.spec.config_options);
  return options;
}

const Option* next_argument(const Program& program, const TypedLine& line) {
  std::size_t index = line.arguments.size();
  for (const Option* option : options_of(program, line)) {
    if (!is_positional(*option)) continue;
    if (index == 0 || is_repeatable(*option)) return option;
    --index;
  }
  return nullptr;
}

bool takes_key(const TypedLine& line, const std::string& key) {
  CommonOptions with_key;
  with_key.overrides.push_back({key, "", "key"});
  Problems usual;
  Problems problems;
  line.command->command->check({}, usual);
  line.command->command->check(with_key, problems);
  return problems.size() <= usual.size();
}

std::string shell_word(const std::string& text) {
  const bool is_plain = !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '/' ||
           c == '-';
  });
  if (is_plain) return text;
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

}  // namespace trainer::cli
