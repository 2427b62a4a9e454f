// SPDX-License-Identifier: Apache-2.0
#include "config/yaml.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <set>
#include <sstream>
#include <string_view>

#include <fmt/format.h>

#include "trainer/core/text.h"

namespace trainer::config {
namespace {

std::string line_of(const std::string& text, int number) {
  std::istringstream stream(text);
  std::string line;
  for (int i = 0; i <= number && std::getline(stream, line); ++i) {
  }
  return line;
}

// The library's words are those of somebody who writes a parser.
std::string plain_words(const YAML::ParserException& e, const std::string& line) {
  struct Meaning {
    std::string_view library;
    std::string_view words;
  };
  static constexpr std::array<Meaning, 9> kMeanings = {{
      {"end of map not found",
       "this line is indented unlike those above; keys of one section stand below each other"},
      {"end of sequence not found",
       "this line is indented unlike those above; elements of one list stand below each other"},
      {"illegal map value",
       "a colon where none can be; indent the line as those above, or put the value in quotes"},
      {"illegal map key", "a key where none can be; indent the line as those above"},
      {"end of sequence flow not found", "a [ is never closed"},
      {"end of map flow not found", "a { is never closed"},
      {"illegal flow end", "a ] or } that closes nothing"},
      {"the referenced anchor is not defined", "a name behind * that no & above defines"},
      {"unknown escape character",
       "a backslash within double quotes that begins no known escape; write it twice, or use "
       "single quotes"},
  }};
  if (line.substr(0, line.find_first_not_of(" \t")).find('\t') != std::string::npos) {
    return "a tab at the beginning of the line; indent with spaces";
  }
  const auto column = static_cast<std::size_t>(std::max(0, e.mark.column));
  if (e.msg == "unknown token" && column < line.size()) {
    return fmt::format("a value cannot begin with {}; put it in quotes",
                       in_quotes(line.substr(column, 1)));
  }
  // What comes behind, as the name or the character, is not in every version.
  const auto found = std::find_if(kMeanings.begin(), kMeanings.end(), [&](const Meaning& meaning) {
    return e.msg.starts_with(meaning.library);
  });
  return found == kMeanings.end() ? e.msg : std::string(found->words);
}

// Where the second document begins: behind --- or ... when something stands before it.
int second_document_line(const std::string& text) {
  std::istringstream stream(text);
  std::string line;
  bool has_content = false;
  for (int number = 1; std::getline(stream, line); ++number) {
    const bool is_mark = line.starts_with("---") || line.starts_with("...");
    if (is_mark && has_content) return number;
    const std::size_t first = line.find_first_not_of(" \t\r");
    has_content = has_content || (!is_mark && first != std::string::npos && line[first] != '#' &&
                                  line[first] != '%');
  }
  return 1;
}

void add_merged(const YAML::Node& from, std::set<std::string>& keys, YamlEntries& entries) {
  for (const auto& entry : entries_of(from)) {
    if (entry.first.IsScalar() && !keys.insert(entry.first.Scalar()).second) continue;
    entries.push_back(entry);
  }
}

}  // namespace

YAML::Node read_yaml(const std::string& text) {
  std::vector<YAML::Node> documents;
  try {
    documents = YAML::LoadAll(text);
  } catch (const YAML::ParserException& e) {
    throw YamlProblem{e.mark.line + 1, plain_words(e, line_of(text, e.mark.line))};
  } catch (const YAML::Exception& e) {
    throw YamlProblem{std::max(0, e.mark.line) + 1, "cannot be read as YAML: " + e.msg};
  }
  while (documents.size() > 1 && documents.back().IsNull()) documents.pop_back();
  if (documents.size() > 1 && !documents.front().IsSequence()) {
    throw YamlProblem{second_document_line(text),
                      "a second document begins here, and only one is read; make it a file of its "
                      "own (--config takes several) or remove this line"};
  }
  return documents.empty() ? YAML::Node() : documents.front();
}

YamlEntries entries_of(const YAML::Node& mapping) {
  YamlEntries entries;
  std::vector<YAML::Node> merged;
  std::set<std::string> keys;
  for (const auto& entry : mapping) {
    if (!entry.first.IsScalar() || entry.first.Scalar() != "<<") {
      entries.emplace_back(entry.first, entry.second);
      if (entry.first.IsScalar()) keys.insert(entry.first.Scalar());
      continue;
    }
    const bool is_list = entry.second.IsSequence();
    for (const YAML::Node& element : entry.second) {
      if (is_list) merged.push_back(element);
    }
    if (!is_list) merged.push_back(entry.second);
    if (!std::all_of(merged.begin(), merged.end(), [](const auto& node) { return node.IsMap(); })) {
      throw YamlProblem{entry.first.Mark().line + 1,
                        "<<: expected a mapping to merge, such as *name"};
    }
  }
  for (const YAML::Node& from : merged) add_merged(from, keys, entries);
  return entries;
}

}  // namespace trainer::config
