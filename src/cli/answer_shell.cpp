// SPDX-License-Identifier: Apache-2.0
#include "cli/answer_shell.h"

#include <exception>
#include <vector>

#include <fmt/format.h>

#include "cli/bash_line.h"
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

}  // namespace trainer::cli
