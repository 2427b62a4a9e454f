// SPDX-License-Identifier: Apache-2.0
// `trainer completion SHELL`: the script that completes command lines in a shell.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "trainer/base/text/enum_names.h"
#include "trainer/base/text/format.h"

#include "cli/commands.h"
#include "cli/completion_scripts.h"

namespace trainer::cli {
namespace {

std::vector<std::string> shell_names() {
  std::vector<std::string> names;
  for (const CompletionScript& script : completion_scripts()) names.emplace_back(script.name);
  return names;
}

class CompletionCommand : public Command {
 public:
  std::vector<Option> options() override {
    return {{"shell", &shell_, "SHELL", "bash, zsh or fish", shell_names()}};
  }

  std::string footer() const override {
    return R"~(bash, in ~/.bashrc (macOS: ~/.bash_profile):
  eval "$(trainer completion bash)"
or, with the package bash-completion, as a file:
  dir=~/.local/share/bash-completion/completions; mkdir -p $dir
  trainer completion bash >$dir/trainer

zsh, in a folder of $fpath, before compinit in ~/.zshrc:
  mkdir -p ~/.zfunc; trainer completion zsh >~/.zfunc/_trainer
  fpath=(~/.zfunc $fpath); autoload -Uz compinit; compinit
or behind compinit: source <(trainer completion zsh)

fish:
  trainer completion fish >~/.config/fish/completions/trainer.fish

make install puts all three where shells look for them.)~";
  }

  void check(const CommonOptions& common, Problems& problems) override {
    const std::vector<std::string> names = shell_names();
    if (std::find(names.begin(), names.end(), shell_) == names.end()) {
      problems.push_back(fmt::format("completion: expected {}, got {}", joined(names, " or "),
                                     shell_.empty() ? "nothing" : in_quotes(shell_)));
    }
    refuse_configuration("completion", common, problems);
  }

  int run(const CommonOptions& /*common*/) override {
    const auto scripts = completion_scripts();
    fmt::print("{}", find_by_name(scripts, shell_)->text);
    return 0;
  }

 private:
  std::string shell_;
};

}  // namespace

std::unique_ptr<Command> make_completion_command() { return std::make_unique<CompletionCommand>(); }

}  // namespace trainer::cli
