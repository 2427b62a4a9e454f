// SPDX-License-Identifier: Apache-2.0
// `trainer init TABLE`: lists the columns of a table, or writes a first configuration for it.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "trainer/base/text/print_safely.h"

#include "cli/commands.h"
#include "cli/new_config.h"
#include "cli/typed_line.h"

namespace trainer::cli {
namespace {

class InitCommand : public Command {
 public:
  std::vector<Option> options() override { return new_config_.options(); }

  void check(const CommonOptions& common, Problems& problems) override {
    new_config_.check(common, problems);
    for (const config::Override& override : common.overrides) {
      problems.push_back(fmt::format("{}: init takes no keys; set {} in the new file",
                                     override.origin, override.key));
    }
  }

  int run(const CommonOptions& common) override {
    apply_quiet(common);
    const std::optional<std::string> file = new_config_.write();
    if (!file || *file == kStandardOutput) return 0;
    print_safely(
        fmt::format("wrote {0}\n\n  trainer config schedule --config {0}\n  trainer --config {0}\n",
                    shell_word(*file)));
    return 0;
  }

 private:
  NewConfig new_config_{"init", Purpose::kEdit};
};

}  // namespace

std::unique_ptr<Command> make_init_command() { return std::make_unique<InitCommand>(); }

}  // namespace trainer::cli
