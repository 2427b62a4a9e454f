// SPDX-License-Identifier: Apache-2.0
// `trainer runs compare RUN RUN...`: what differs, in settings and results.
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "trainer/base/io/terminal.h"
#include "trainer/base/text/print_safely.h"
#include "trainer/run/tracking/comparison.h"

#include "cli/command.h"
#include "cli/print_document.h"
#include "cli/runs_options.h"

namespace trainer::cli {
namespace {

class RunsCompareCommand : public Command {
 public:
  std::vector<Option> options() override {
    std::vector<Option> options = {{"runs", &runs_, "RUN ...", "Two runs or more"}};
    for (Option& option : format_.options()) options.push_back(std::move(option));
    return options;
  }

  void check(const CommonOptions& common, Problems& problems) override {
    if (runs_.size() < 2) problems.emplace_back("runs compare: name two runs or more");
    format_.check("runs compare", problems);
    refuse_configuration("runs compare", common, problems);
  }

  int run(const CommonOptions& /*common*/) override {
    const auto comparison =
        tracking::compare(entries_of_runs(runs_), standard_output_terminal().unicode);
    print_safely(tracking::comparison_text(comparison, format_.format(), output_width()));
    return 0;
  }

 private:
  std::vector<std::string> runs_;
  ListFormatOptions format_;
};

}  // namespace

std::unique_ptr<Command> make_runs_compare_command() {
  return std::make_unique<RunsCompareCommand>();
}

}  // namespace trainer::cli
