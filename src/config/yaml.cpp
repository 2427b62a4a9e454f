// SPDX-License-Identifier: Apache-2.0
#include "trainer/config/yaml.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <set>
#include <sstream>
#include <string_view>

#include <fmt/format.h>
#include <yaml-cpp/anchor.h>
#include <yaml-cpp/eventhandler.h>

#include "trainer/base/text/format.h"

#include "config/yaml.h"

namespace trainer::config {
namespace {

std::string line_of(const std::string& text, int number) {
  std::istringstream stream(text);
  std::string line;
  for (int i = 0; i <= number && std::getline(stream, line); ++i) {
  }
  return line;
}

// Translates messages of yaml-cpp, which are written for authors of parsers.
std::string plain_words(const YAML::ParserException& e, const std::string& line) {
  struct Meaning {
    std::string_view library;
    std::string_view words;
  };
  static constexpr std::array<Meaning, 10> kMeanings = {{
      {"end of map not found",
       "the indentation of this line does not match the lines above; keys of one section must be "
       "aligned"},
      {"end of sequence not found",
       "the indentation of this line does not match the lines above; elements of one list must be "
       "aligned"},
      {"illegal map value",
       "unexpected colon; indent the line like those above, or put the value in quotes"},
      {"illegal map key", "unexpected key; indent the line like those above"},
      {"end of sequence flow not found", "unclosed ["},
      {"end of map flow not found", "unclosed {"},
      {"bad file", "lists and mappings are nested too deeply"},
      {"illegal flow end", "unmatched ] or }"},
      {"the referenced anchor is not defined",
       "undefined anchor: no & above defines the name after *"},
      {"unknown escape character",
       "unknown escape sequence in double quotes; write the backslash twice, or use single quotes"},
  }};
  if (line.substr(0, line.find_first_not_of(" \t")).find('\t') != std::string::npos) {
    return "a tab in the indentation; indent with spaces";
  }
  const auto column = static_cast<std::size_t>(std::max(0, e.mark.column));
  if (e.msg == "unknown token" && column < line.size()) {
    return fmt::format("a value cannot start with {}; put it in quotes",
                       in_quotes(line.substr(column, 1)));
  }
  // The rest of a message, such as a name or character, is not there in every version of yaml-cpp.
  const auto found = std::find_if(kMeanings.begin(), kMeanings.end(), [&](const Meaning& meaning) {
    return e.msg.starts_with(meaning.library);
  });
  return found == kMeanings.end() ? e.msg : std::string(found->words);
}

/// Counts values and collections, so that 0 means a document without content.
class ContentCounter : public YAML::EventHandler {
 public:
  int count() const { return count_; }

  void OnDocumentStart(const YAML::Mark& /*mark*/) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& /*mark*/, YAML::anchor_t /*anchor*/) override {}
  void OnAlias(const YAML::Mark& /*mark*/, YAML::anchor_t /*anchor*/) override { ++count_; }
  void OnScalar(const YAML::Mark& /*mark*/, const std::string& /*tag*/, YAML::anchor_t /*anchor*/,
                const std::string& /*value*/) override {
    ++count_;
  }
  void OnSequenceStart(const YAML::Mark& /*mark*/, const std::string& /*tag*/,
                       YAML::anchor_t /*anchor*/, YAML::EmitterStyle::value /*style*/) override {
    ++count_;
  }
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark& /*mark*/, const std::string& /*tag*/, YAML::anchor_t /*anchor*/,
                  YAML::EmitterStyle::value /*style*/) override {
    ++count_;
  }
  void OnMapEnd() override {}

 private:
  int count_ = 0;
};

// Returns the number of documents with content, at most 2. For some texts, such as "a" followed by
// a comma, yaml-cpp finds documents without end; more than kMax of them count as 2.
int count_documents(const std::string& text) {
  constexpr int kMax = 100;
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  int num_documents = 0;
  for (int i = 0; num_documents < 2; ++i) {
    ContentCounter counter;
    if (i == kMax) return 2;
    if (!parser.HandleNextDocument(counter)) break;
    num_documents += counter.count() > 0 ? 1 : 0;
  }
  return num_documents;
}

// Returns the line where the second document begins: the first --- or ... after content.
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

/// Collects the entries of a mapping and of the mappings that its merge keys (<<) name. Each
/// mapping is added at most once.
class Merger {
 public:
  YamlEntries merge(const YAML::Node& mapping) {
    add(mapping, 0);
    return std::move(entries_);
  }

 private:
  // A mapping that was already added is skipped. Otherwise, a few lines that merge each other
  // several times would take exponential time.
  void add(const YAML::Node& mapping, int depth) {
    if (!seen_.insert(mapping.Mark().pos).second) return;
    std::vector<YAML::Node> merged;
    std::set<std::string> own_keys;
    for (const auto& entry : mapping) {
      const bool is_scalar = entry.first.IsScalar();
      if (is_scalar && entry.first.Scalar() == "<<") {
        add_sources(entry.first, entry.second, depth, merged);
        continue;
      }
      // Keys that are twice in one mapping are kept for the caller to report. Merged keys give way
      // to those that are already there.
      if (is_scalar) own_keys.insert(entry.first.Scalar());
      if (!is_scalar || !keys_.contains(entry.first.Scalar())) {
        entries_.emplace_back(entry.first, entry.second);
      }
    }
    keys_.merge(own_keys);
    for (const YAML::Node& from : merged) add(from, depth + 1);
  }

  static void add_sources(const YAML::Node& key, const YAML::Node& value, int depth,
                          std::vector<YAML::Node>& merged) {
    constexpr int kMaxDepth = 100;
    const auto refuse = [&](const char* problem) {
      throw YamlProblem{key.Mark().line + 1, fmt::format("<<: {}", problem)};
    };
    if (depth == kMaxDepth) refuse("expected at most 100 nested merge keys");
    if (!value.IsSequence()) {
      merged.push_back(value);
    } else {
      for (const YAML::Node& element : value) merged.push_back(element);
    }
    if (!std::all_of(merged.begin(), merged.end(), [](const auto& node) { return node.IsMap(); })) {
      refuse("expected a mapping to merge, such as *name");
    }
  }

  YamlEntries entries_;
  std::set<std::string> keys_;
  std::set<int> seen_;  // positions in the text where mappings begin
};

}  // namespace

YAML::Node read_yaml(const std::string& text) {
  YAML::Node root;
  bool has_second = false;
  try {
    root = YAML::Load(text);
    has_second = !root.IsSequence() && count_documents(text) > 1;
  } catch (const YAML::ParserException& e) {
    throw YamlProblem{e.mark.line + 1, plain_words(e, line_of(text, e.mark.line))};
  } catch (const YAML::Exception& e) {
    throw YamlProblem{std::max(0, e.mark.line) + 1, "invalid YAML: " + e.msg};
  }
  if (has_second) {
    throw YamlProblem{second_document_line(text),
                      "a second document starts here, but only one is supported; move it to a "
                      "separate file (--config accepts several) or remove this line"};
  }
  return root;
}

YamlEntries entries_of(const YAML::Node& mapping) { return Merger().merge(mapping); }

std::string YamlSections::enter(std::string_view path) {
  std::string lines;
  std::size_t level = 0;
  for (std::size_t dot = path.find('.'); dot != std::string_view::npos; dot = path.find('.')) {
    const std::string_view section = path.substr(0, dot);
    path.remove_prefix(dot + 1);
    if (level == open_.size() || open_[level] != section) {
      open_.resize(level);
      lines += indent() + std::string(section) + ":\n";
      open_.emplace_back(section);
    }
    ++level;
  }
  open_.resize(level);
  return lines;
}

}  // namespace trainer::config
