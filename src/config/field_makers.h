// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trainer/config/config.h"
#include "trainer/config/fields.h"
#include "trainer/config/types.h"

// Makes the key from the path of its member, so that the two cannot drift apart.
#define TRAINER_MEMBER(member)                                          \
#member, make_member(                                                 \
               +[](Config & config) -> auto& { return config.member; }, \
               +[](const Config& config) -> auto& { return config.member; })

namespace trainer::config {

/// Returns the keys of `data`, which are part of fields().
std::vector<Field> data_fields();

/// Returns the keys of `model`, which are part of fields().
std::vector<Field> model_fields();

/// Returns the fields of all `sections`, in their order.
inline std::vector<Field> concatenated(std::initializer_list<std::vector<Field>> sections) {
  std::vector<Field> all;
  for (const std::vector<Field>& section : sections) {
    all.insert(all.end(), section.begin(), section.end());
  }
  return all;
}

template <typename T>
Member<T> make_member(T& (*to_write)(Config&), const T& (*to_read)(const Config&)) {
  return {to_write, to_read};
}

struct Extra {
  std::string flag = {};
  std::vector<std::string> aliases = {};
  OnResume on_resume = OnResume::kFixed;
};

inline Field make(std::string path, Access access, std::string help, Extra extra) {
  return {std::move(path),       std::move(access),        std::move(help),
          std::move(extra.flag), std::move(extra.aliases), extra.on_resume};
}

inline Field integer(std::string path, Member<int64_t> member, Bounds bounds, std::string help,
                     Extra extra = {}) {
  return make(std::move(path), IntegerAccess{member, bounds, ""}, std::move(help),
              std::move(extra));
}

inline Field integer_or_auto(std::string path, Member<int64_t> member, Bounds bounds,
                             std::string help, Extra extra = {}) {
  return make(std::move(path), IntegerAccess{member, bounds, "auto"}, std::move(help),
              std::move(extra));
}

inline Field number(std::string path, Member<double> member, Bounds bounds, std::string help,
                    Extra extra = {}) {
  return make(std::move(path), NumberAccess{member, bounds}, std::move(help), std::move(extra));
}

inline Field boolean(std::string path, Member<bool> member, std::string help, Extra extra = {}) {
  return make(std::move(path), BoolAccess{member}, std::move(help), std::move(extra));
}

inline Field text(std::string path, Member<std::string> member, std::string expected,
                  bool (*valid)(std::string_view), std::string help, Extra extra = {}) {
  return make(std::move(path), TextAccess{member, std::move(expected), valid, {}, false},
              std::move(help), std::move(extra));
}

inline Field text_or(std::vector<std::string> words, std::string path, Member<std::string> member,
                     std::string expected, bool (*valid)(std::string_view), std::string help,
                     Extra extra = {}) {
  return make(std::move(path),
              TextAccess{member, std::move(expected), valid, std::move(words), false},
              std::move(help), std::move(extra));
}

inline Field column(std::string path, Member<std::string> member, std::string help,
                    Extra extra = {}) {
  return make(std::move(path), TextAccess{member, "a column name", nullptr, {}, true},
              std::move(help), std::move(extra));
}

inline Field file(std::string path, Member<std::string> member, std::string help,
                  Extra extra = {}) {
  return make(std::move(path), PathAccess{member}, std::move(help), std::move(extra));
}

inline Field folder_or(std::vector<std::string> words, std::string path, Member<std::string> member,
                       std::string help, Extra extra = {}) {
  return make(std::move(path), PathAccess{member, std::move(words)}, std::move(help),
              std::move(extra));
}

// Makes a key that accepts the first `num_names` values of an enumeration, or all.
template <typename Enum>
Field choice(std::string path, Member<Enum> member, std::string help, Extra extra = {},
             std::size_t num_names = enum_names<Enum>().size()) {
  ChoiceAccess access;
  access.names = enum_names<Enum>().first(num_names);
  access.get = [member](const Config& config) { return static_cast<int>(member(config)); };
  access.set = [member](Config& config, int value) { member(config) = static_cast<Enum>(value); };
  return make(std::move(path), std::move(access), std::move(help), std::move(extra));
}

inline Field integers(std::string path, Member<std::vector<int64_t>> member, Bounds bounds,
                      std::string help, Extra extra = {}) {
  return make(std::move(path), IntegerListAccess{member, bounds}, std::move(help),
              std::move(extra));
}

inline Field texts(std::string path, Member<std::vector<std::string>> member, std::string help,
                   Extra extra = {}) {
  return make(std::move(path), TextListAccess{member, false}, std::move(help), std::move(extra));
}

inline Field columns(std::string path, Member<std::vector<std::string>> member, std::string help,
                     Extra extra = {}) {
  return make(std::move(path), TextListAccess{member, true}, std::move(help), std::move(extra));
}

// Targets cannot be scaled by quantiles, which are the last methods of the enumeration.
inline constexpr std::size_t kNumTargetScalings = 4;

inline bool any_text(std::string_view) { return true; }

}  // namespace trainer::config
