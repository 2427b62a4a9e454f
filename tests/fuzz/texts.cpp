// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "trainer/config/dump.h"
#include "trainer/config/load.h"

#include "cli/answer_shell.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/complete.h"
#include "fuzz/input.h"
#include "fuzz/targets.h"

namespace trainer::fuzz {

// A file; dumped and loaded again it is the same.
void fuzz_yaml(std::string_view bytes) {
  const config::Document file = {"t.yaml", std::string(bytes), folder().path()};
  read_or_refuse([&] { config::load_draft({file}, {}); });
  read_or_refuse([&] {
    const config::Loaded loaded = config::load({file}, {});
    const config::Document dumped = {"dump.yaml", config::dump(loaded), folder().path()};
    std::optional<config::Loaded> again;
    try {
      again = config::load({dumped}, {});
    } catch (const Error& error) {
      throw std::logic_error(std::string("the dump is refused: ") + error.what());
    }
    require_same(loaded.config, again->config);
  });
}

// A word a line. Parsed, and completed by each shell.
void fuzz_command_line(std::string_view bytes) {
  std::string text(bytes);
  std::erase(text, '\0');
  const std::vector<std::string> words = parts_of(text, '\n');
  std::vector<const char*> arguments = {"trainer"};
  for (const std::string& word : words) arguments.push_back(word.c_str());
  read_or_refuse([&] {
    const cli::CommandLine line = cli::parse_command_line(
        cli::command_table(), static_cast<int>(arguments.size()), arguments.data());
    if (line.command != nullptr) config::load({}, line.common.overrides);
  });
  if (!words.empty()) read_or_refuse([&] { cli::complete(cli::command_table(), words); });
  for (const char* shell : {"bash", "zsh", "fish"}) {
    std::vector<std::string> typed = words;
    typed.insert(typed.begin(), shell);
    cli::answer_shell(cli::command_table(), typed);
  }
}

}  // namespace trainer::fuzz
