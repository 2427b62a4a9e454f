// SPDX-License-Identifier: Apache-2.0
#include "trainer/config/load.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <yaml-cpp/yaml.h>

#include "trainer/base/error.h"
#include "trainer/base/io/read_text.h"
#include "trainer/base/text/format.h"
#include "trainer/base/text/suggest.h"
#include "trainer/base/text/utf8.h"
#include "trainer/config/fields.h"
#include "trainer/config/recipe.h"

#include "config/recipe.h"
#include "config/validate.h"
#include "config/values.h"
#include "config/yaml.h"

namespace trainer::config {
namespace {

// What dump() writes after a key that nobody set. A document that contains it states every key.
constexpr const char* kDefaultNote = "  # default\n";

// Separates the origin of a key from the keys that it won over.
constexpr const char* kOver = ", over";

/// A key that an earlier version had and this one does not.
struct RemovedKey {
  std::string_view path;
  std::string_view default_value;  // ignored, because the configuration of every old run has it
  std::string_view instead;
};

constexpr std::array kRemovedKeys = {
    RemovedKey{"logging.dvclive", "", "logging.tensorboard writes the same curves"}};

const RemovedKey* find_removed(std::string_view path) {
  const auto* const found = std::find_if(kRemovedKeys.begin(), kRemovedKeys.end(),
                                         [&](const RemovedKey& key) { return key.path == path; });
  return found == kRemovedKeys.end() ? nullptr : found;
}

std::string last_key(std::string_view path) {
  return std::string(path.substr(path.rfind('.') + 1));  // npos + 1 is 0
}

// Returns a hint for an unknown key such as `lr`, `max_epochs`, `training.batchsize` or
// `hidden_size`.
std::string suggestion(std::string_view unknown) {
  std::vector<std::string> paths;
  std::vector<std::string> same_leaf;
  for (const Field& field : fields()) {
    const std::string section = field.path.substr(0, field.path.rfind('.') + 1);
    if (!section.empty()) paths.push_back(section.substr(0, section.size() - 1));
    paths.push_back(field.path);
    for (const std::string& name : field.aliases) {
      if (name == unknown || name == last_key(unknown)) {
        return fmt::format("; use \"{}\"", field.path);
      }
    }
    if (last_key(field.path) == last_key(unknown)) same_leaf.push_back(field.path);
  }
  if (same_leaf.size() == 1) return fmt::format("; did you mean \"{}\"?", same_leaf.front());
  if (const auto near = nearest_word(unknown, paths)) {
    return fmt::format("; did you mean \"{}\"?", *near);
  }
  std::vector<std::string> leaves;
  leaves.reserve(paths.size());
  for (const std::string& path : paths) leaves.push_back(last_key(path));
  if (const auto near = nearest_word(last_key(unknown), leaves)) {
    for (const std::string& path : paths) {
      if (last_key(path) == *near) return fmt::format("; did you mean \"{}\"?", path);
    }
  }
  return "; trainer config reference lists all keys";
}

// Returns whether a value of the command line is in double quotes, as in `data.decimal=","`.
bool is_in_quotes(const std::string& text) {
  return text.size() > 1 && text.front() == '"' && text.back() == '"';
}

// Returns the number of bytes before the first one that is not UTF-8.
std::size_t valid_length(std::string_view text) {
  std::size_t length = 0;
  while (length < text.size()) {
    const std::size_t size = utf8_length(text.substr(length));
    if (size == 0) break;
    length += size;
  }
  return length;
}

// Returns "FILE:LINE: key", or only the flag if that is the key: "--precision".
std::string where(const std::string& origin, const std::string& key) {
  return origin == "--" + key ? origin : origin + ": " + key;
}

constexpr std::size_t kMaxProblems = 20;  // further ones are only counted

class Loader {
 public:
  Loader(const std::vector<Document>& documents, const std::vector<Override>& overrides) {
    for (const Document& document : documents) {
      read(document);
      ++precedence_;
    }
    for (const Override& change : overrides) apply(change);
  }

  Loaded finish_draft() {
    choose_source();
    apply_recipe();
    choose_query_folder();
    make_paths_absolute();
    return std::move(loaded_);
  }

  Loaded finish() {
    choose_source();
    Loader before = *this;
    Loaded draft = finish_draft();
    if (problems_.empty()) {
      const std::vector<Conflict> conflicts = Conflicts(draft).find();
      if (conflicts.empty()) return draft;
      if (before.give_way(conflicts)) return before.finish();
      for (const Conflict& conflict : conflicts) problems_.push_back(conflict.text);
    }
    if (problems_.size() > kMaxProblems) {
      const std::size_t num_more = problems_.size() - kMaxProblems;
      problems_.resize(kMaxProblems);
      problems_.push_back(fmt::format("and {} more", num_more));
    }
    throw Error(ErrorKind::kUsage, fmt::format("{}", fmt::join(problems_, "\n")));
  }

 private:
  void read(const Document& document) {
    if (const std::size_t length = valid_length(document.text); length < document.text.size()) {
      const auto line =
          1 + std::count(document.text.begin(),
                         document.text.begin() + static_cast<std::ptrdiff_t>(length), '\n');
      problems_.push_back(
          fmt::format("{}:{}: expected UTF-8 text, got the byte 0x{:02x}; save the file as UTF-8",
                      document.name, line, static_cast<unsigned char>(document.text[length])));
      return;
    }
    try {
      read_root(document, read_yaml(document.text));
    } catch (const YamlProblem& problem) {
      problems_.push_back(
          fmt::format("{}:{}: YAML: {}", document.name, problem.line, problem.text));
    }
  }

  void apply(const Override& change) {
    const Field* field = find_field(change.key);
    if (field == nullptr) {
      report_unknown(change.origin, change.key);
      return;
    }
    if (change.value.empty() && !takes_raw_text(*field)) {
      problems_.push_back(fmt::format("{}: expected {}, got nothing; null restores the default",
                                      where(change.origin, change.key),
                                      expected_text(field->access)));
      return;
    }
    YAML::Node node;
    try {
      const bool is_raw =
          takes_raw_text(*field) && change.value != "null" && !is_in_quotes(change.value);
      node = is_raw ? YAML::Node(change.value) : YAML::Load(change.value);
    } catch (const YAML::Exception&) {
      node = YAML::Node(change.value);  // not YAML; the field reports what it expects
    }
    set(*field, node, std::filesystem::current_path(), change.origin);
  }

  void read_root(const Document& document, const YAML::Node& root) {
    if (root.IsNull()) return;  // an empty file changes nothing
    if (!root.IsMap()) {
      problems_.push_back(fmt::format("{}:{}: expected a mapping of keys to values, got {}",
                                      document.name, root.Mark().line + 1,
                                      root.IsSequence() ? "a list" : in_quotes(root.Scalar())));
      return;
    }
    is_resolved_ = document.text.find(kDefaultNote) != std::string::npos;
    read_section(document, root, "");
    is_resolved_ = false;
  }

  void read_section(const Document& document, const YAML::Node& section,
                    const std::string& prefix) {
    std::set<std::string> seen;
    for (const auto& entry : entries_of(section)) {
      const std::string origin = fmt::format("{}:{}", document.name, entry.first.Mark().line + 1);
      if (!entry.first.IsScalar()) {
        problems_.push_back(fmt::format("{}: expected a key, got a list or mapping", origin));
        continue;
      }
      const std::string path = prefix + entry.first.Scalar();
      if (path.starts_with("x-")) continue;  // ignored, so that anchors can be defined there
      if (!seen.insert(path).second) {
        problems_.push_back(fmt::format("{}: {}: duplicate key; remove one", origin, path));
        continue;
      }
      read_entry(document, entry.second, path, origin);
    }
  }

  void read_entry(const Document& document, const YAML::Node& value, const std::string& path,
                  const std::string& origin) {
    if (const Field* field = find_field(path)) {
      set(*field, value, document.folder, origin);
    } else if (const RemovedKey* removed = find_removed(path);
               removed != nullptr && value.IsScalar() && value.Scalar() == removed->default_value) {
      return;
    } else if (!is_section(path)) {
      report_unknown(origin, path);
    } else if (value.IsMap()) {
      read_section(document, value, path + ".");
    } else if (!value.IsNull()) {
      problems_.push_back(fmt::format("{}: {}: expected a mapping, got {}", origin, path,
                                      value.IsScalar() ? in_quotes(value.Scalar()) : "a list"));
    }
  }

  void set(const Field& field, const YAML::Node& node, const std::filesystem::path& folder,
           const std::string& origin) {
    if (node.IsNull()) {
      unset(field);
      return;
    }
    if (const auto problem = assign(field, loaded_.config, node, folder)) {
      problems_.push_back(fmt::format("{}: {}", where(origin, field.path), *problem));
      return;
    }
    loaded_.origins[field.path] = origin;
    precedences_[field.path] = precedence_;
    if (field.path == "data.query") query_folder_ = folder;
    if (is_resolved_) {
      resolved_.insert(field.path);
    } else {
      resolved_.erase(field.path);
    }
  }

  // For each conflict of two keys, unsets the one with the lower precedence and notes that in the
  // origin of the other. Returns whether a key was unset.
  bool give_way(const std::vector<Conflict>& conflicts) {
    const std::size_t before = precedences_.size();
    for (const Conflict& conflict : conflicts) {
      for (const auto& [loser, winner] : conflict.yields) {
        const auto low = precedences_.find(loser);
        const auto high = precedences_.find(winner);
        if (low == precedences_.end() || high == precedences_.end()) continue;
        if (low->second >= high->second) continue;
        if (source_follows_ && loser == "data.source") continue;  // else it would be derived again
        std::string& origin = loaded_.origins[winner];
        origin +=
            fmt::format("{} {} of {}", origin.find(kOver) == std::string::npos ? kOver : " and",
                        loser, loaded_.origins[loser]);
        unset(*find_field(loser));
      }
    }
    return precedences_.size() < before;
  }

  void unset(const Field& field) {
    reset(field, loaded_.config);
    loaded_.origins.erase(field.path);
    precedences_.erase(field.path);
    resolved_.erase(field.path);
  }

  // If data.source was not set, takes the source of the file or query that was set with the highest
  // precedence.
  void choose_source() {
    static constexpr std::pair<const char*, Source> kSources[] = {
        {"data.path", Source::kCsv},
        {"data.query", Source::kQuery},
        {"data.idx.train_images", Source::kIdx},
        {"data.npy.features", Source::kNpy}};
    if (loaded_.origins.contains("data.source")) return;
    int best = -1;
    for (const auto& [key, source] : kSources) {
      const auto found = precedences_.find(key);
      if (found == precedences_.end() || value_text(key, loaded_.config) == "\"\"") continue;
      if (found->second <= best) continue;
      best = found->second;
      loaded_.config.data.source = source;
      loaded_.origins["data.source"] = fmt::format("{}, from {}", loaded_.origins[key], key);
      precedences_["data.source"] = best;
      source_follows_ = true;
    }
  }

  // A recipe from the command line, or a later document, holds for all members.
  void choose_recipes() {
    const auto recipe = precedences_.find("recipe");
    const auto of_members = precedences_.find("member_recipes");
    if (recipe == precedences_.end() || of_members == precedences_.end()) return;
    if (of_members->second < recipe->second) unset(*find_field("member_recipes"));
  }

  // Sets the recipe's values of keys that nobody set. Keys that depend on the data keep the values
  // of a resolved document, because it is not known whether the recipe or the user chose them.
  void apply_recipe() {
    choose_recipes();
    Config defaults;
    defaults.recipe = loaded_.config.recipe;
    const DataFacts facts = known_facts(loaded_.config);
    for (const RecipeRule& rule : recipe_rules(defaults.recipe)) {
      const bool is_set = loaded_.origins.contains(rule.key);
      if (const auto value = value_of(rule, facts)) {
        apply_rule(rule, *value, defaults);
        if (!is_set) apply_rule(rule, *value, loaded_.config);
      } else {
        resolved_.erase(rule.key);
        if (!is_set) loaded_.config.pending.emplace_back(rule.key);
      }
    }
    // A resolved document states the number of epochs that fitted into the time.
    const bool has_limit = loaded_.config.training.max_seconds > 0;
    if (has_limit && !resolved_.contains("training.epochs")) {
      loaded_.config.pending.emplace_back("training.epochs");
    }
    for (const std::string& key : resolved_) {
      if (value_text(key, loaded_.config) == value_text(key, defaults)) loaded_.origins.erase(key);
    }
  }

  // Relative paths in a query start at the folder of the document that has the query.
  void choose_query_folder() {
    DataConfig& data = loaded_.config.data;
    if (!data.query.empty() && data.query_folder.empty()) data.query_folder = query_folder_;
  }

  // Also makes defaults absolute, which are relative to the working directory, so that the resolved
  // configuration means the same wherever it is loaded.
  void make_paths_absolute() {
    for (const Field& field : fields()) {
      const auto* access = std::get_if<PathAccess>(&field.access);
      if (access == nullptr || access->member(loaded_.config).empty()) continue;
      std::string& path = access->member(loaded_.config);
      if (is_word(*access, path)) continue;
      path = std::filesystem::absolute(path).lexically_normal().string();
      if (is_utf8(path)) continue;
      problems_.push_back(
          fmt::format("{}: expected a UTF-8 path, got {}; rename the file or folder, or change to "
                      "another working directory",
                      field.path, in_quotes(path)));
    }
  }

  void report_unknown(const std::string& origin, const std::string& key) {
    // A suggestion requires a comparison with all keys, which is too slow for thousands of problems
    // that are not shown.
    if (problems_.size() >= kMaxProblems) {
      problems_.emplace_back();
      return;
    }
    if (const RemovedKey* removed = find_removed(key)) {
      problems_.push_back(
          fmt::format("{}: {}: this key was removed; {}", origin, key, removed->instead));
      return;
    }
    problems_.push_back(
        is_section(key)
            ? fmt::format("{}: {} is a section, not a key; set one of its keys, such as \"{}\"",
                          origin, key, first_key(key))
            : fmt::format("{}: {}: unknown key{}", origin, key, suggestion(key)));
  }

  static std::string first_key(const std::string& section) {
    for (const Field& field : fields()) {
      if (field.path.compare(0, section.size() + 1, section + ".") == 0) return field.path;
    }
    return section;
  }

  Loaded loaded_;
  std::filesystem::path query_folder_;  // folder of the document that set data.query
  bool is_resolved_ = false;  // the current document states every key, also those that nobody set
  bool source_follows_ = false;  // data.source follows from another key
  int precedence_ = 0;           // of the current document; later ones have higher values
  std::map<std::string, int> precedences_;  // by key; keys with their defaults are not in it
  std::set<std::string> resolved_;          // keys that were set by a resolved document
  std::vector<std::string> problems_;
};

}  // namespace

Loaded load(const std::vector<Document>& documents, const std::vector<Override>& overrides) {
  return Loader(documents, overrides).finish();
}

Loaded load_draft(const std::vector<Document>& documents, const std::vector<Override>& overrides) {
  return Loader(documents, overrides).finish_draft();
}

std::string origin_of(const Loaded& loaded, const std::string& key) {
  const auto found = loaded.origins.find(key);
  if (found != loaded.origins.end()) return found->second;
  const Recipe recipe = loaded.config.recipe;
  return sets_default(recipe, key) ? "recipe " + to_text(recipe) : "default";
}

Document read_document(const std::filesystem::path& path) {
  const auto refuse = [&](const std::string& why) -> Error {
    return {ErrorKind::kUsage, fmt::format("{}: {}", path.string(), why)};
  };
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    throw refuse("expected a YAML file, got a folder; give the path of the file");
  }
  if (path == "-") {
    return {"standard input", std::string(std::istreambuf_iterator<char>(std::cin), {}),
            std::filesystem::current_path()};
  }
  constexpr const char* kProblem = "cannot read the configuration";
  std::optional<std::string> text = read_text(path, ErrorKind::kUsage, kProblem);
  if (!text) throw refuse(fmt::format("{}: {}", kProblem, std::strerror(ENOENT)));
  // What comes out of a pipe (/dev/stdin, <(command)) has no folder, so its relative paths start at
  // the working directory.
  const bool is_file = std::filesystem::is_regular_file(path, error);
  return {
      path.string(), std::move(*text),
      is_file ? std::filesystem::absolute(path).parent_path() : std::filesystem::current_path()};
}

}  // namespace trainer::config
