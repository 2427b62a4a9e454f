// SPDX-License-Identifier: Apache-2.0
// Bash splits words at = and : (COMP_WORDBREAKS) and does not say where quotes are, so the line is
// read here as it is typed. Bash replaces only what follows the last of these characters.
#include "cli/answer_shell.h"

#include <exception>
#include <vector>

#include <fmt/format.h>

#include "cli/complete.h"

namespace trainer::cli {
namespace {

using Words = std::span<const std::string>;

// Includes files and folders: bash and fish leave these to the program, zsh completes them itself.
std::vector<Candidate> all_candidates(const Completion& completion, const std::string& typed) {
  std::vector<Candidate> candidates = completion.candidates;
  if (!typed.starts_with(completion.before)) return candidates;
  for (Candidate& path :
       path_candidates(completion.paths, typed.substr(completion.before.size()))) {
    candidates.push_back({completion.before + path.text, path.help, path.is_part});
  }
  return candidates;
}

// The answer has a line for each candidate, so a text with a line break cannot be one.
bool is_one_line(const std::string& text) { return text.find('\n') == std::string::npos; }

std::string bash_answer(std::span<const CommandRow> table, Words arguments) {
  const BashLine line = read_bash_line(arguments[0], arguments[1]);
  const Words words = Words(line.words).subspan(1);
  if (words.empty()) return "";
  std::string text;
  for (const Candidate& candidate : all_candidates(complete(table, words), words.back())) {
    if (!candidate.text.starts_with(words.back()) || !is_one_line(candidate.text)) continue;
    text += bash_text(line, candidate.text, candidate.is_part) + "\n";
  }
  return text;
}

std::string fish_answer(std::span<const CommandRow> table, Words words) {
  std::string text;
  for (const Candidate& candidate : all_candidates(complete(table, words), words.back())) {
    if (is_one_line(candidate.text)) text += candidate.text + "\t" + candidate.help + "\n";
  }
  return text;
}

std::string zsh_answer(std::span<const CommandRow> table, Words words) {
  const Completion completion = complete(table, words);
  std::string text;
  for (const Candidate& candidate : completion.candidates) {
    if (!is_one_line(candidate.text)) continue;
    text += (candidate.is_part ? "-" : " ") + candidate.text + "\t" + candidate.help + "\n";
  }
  switch (completion.paths) {
    case Paths::kNone:
      return text;
    case Paths::kFiles:
      return text + ":files\n";
    case Paths::kFolders:
      return text + ":folders\n";
    case Paths::kCheckpoints:
      return text + ":checkpoints\n";
  }
  return text;
}

}  // namespace

std::string answer_shell(std::span<const CommandRow> table, Words arguments) try {
  if (arguments.size() < 2) return "";
  const std::string& shell = arguments.front();
  const Words rest = arguments.subspan(1);
  if (shell == "bash" && rest.size() == 2) return bash_answer(table, rest);
  if (shell == "zsh") return zsh_answer(table, rest);
  if (shell == "fish") return fish_answer(table, rest);
  return "";
} catch (const std::exception&) {
  return "";
}

namespace {

/// Splits a line into words as bash does. `quote` is the quote that is open at its end.
struct Lexer {
  std::vector<std::string> words{""};
  bool in_word = false;
  char quote = '\0';

  void add(char c) {
    words.back() += c;
    in_word = true;
  }

  void read(std::string_view line) {
    for (std::size_t i = 0; i < line.size(); ++i) {
      const char c = line[i];
      const bool escapes = c == '\\' && quote != '\'' && i + 1 < line.size();
      if (escapes && (quote == '\0' || is_special_in_quotes(line[i + 1]))) {
        add(line[++i]);
      } else if (c == quote) {
        quote = '\0';
      } else if (quote == '\0' && (c == '\'' || c == '"')) {
        quote = c;
        in_word = true;
      } else if (quote == '\0' && (c == ' ' || c == '\t' || c == '\n')) {
        if (in_word) words.emplace_back();
        in_word = false;
      } else {
        add(c);
      }
    }
  }

  static bool is_special_in_quotes(char c) { return c == '"' || c == '\\' || c == '$' || c == '`'; }
};

bool is_plain(char c) {
  constexpr std::string_view kSpecial = " \t\n\\'\"`$&|;<>()[]{}*?!#^";
  return kSpecial.find(c) == std::string_view::npos;
}

}  // namespace

BashLine read_bash_line(std::string_view line, std::string_view replaced) {
  Lexer all;
  all.read(line);
  Lexer kept;
  kept.read(line.substr(0, line.size() - std::min(replaced.size(), line.size())));
  const bool in_same_word = kept.words.size() == all.words.size();
  return {std::move(all.words), in_same_word ? kept.words.back().size() : 0, all.quote};
}

std::string bash_text(const BashLine& line, const std::string& word, bool is_part) {
  std::string text;
  for (const char c : word.substr(std::min(line.num_kept, word.size()))) {
    if (line.quote == '\'') {
      text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    } else {
      const bool escapes = line.quote == '"' ? Lexer::is_special_in_quotes(c) : !is_plain(c);
      text += escapes ? std::string("\\") + c : std::string(1, c);
    }
  }
  // No space follows an open quote: bash closes the quote itself.
  return is_part || line.quote != '\0' ? text : text + " ";
}

}  // namespace trainer::cli
