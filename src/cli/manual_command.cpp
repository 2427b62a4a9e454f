// SPDX-License-Identifier: Apache-2.0
// `trainer manual`: the manual page, which the build installs as trainer(1).
#include <memory>

#include <fmt/format.h>

#include "cli/command.h"
#include "cli/commands.h"
#include "cli/manual.h"

namespace trainer::cli {
namespace {

class ManualCommand : public Command {
 public:
  std::string footer() const override { return "To read it: trainer manual | man -l -"; }

  void check(const CommonOptions& common, Problems& problems) override {
    refuse_configuration("manual", common, problems);
  }

  int run(const CommonOptions& /*common*/) override {
    fmt::print("{}", manual_page(command_table()));
    return 0;
  }
};

}  // namespace

std::unique_ptr<Command> make_manual_command() { return std::make_unique<ManualCommand>(); }

}  // namespace trainer::cli
