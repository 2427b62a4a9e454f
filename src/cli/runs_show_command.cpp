// SPDX-License-Identifier: Apache-2.0
// `trainer runs show RUN`: what happened in a run.
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "trainer/run/tracking/run_document.h"

#include "cli/command.h"
#include "cli/print_document.h"
#include "cli/runs_options.h"

namespace trainer::cli {
namespace {

class RunsShowCommand : public Command {
 public:
  std::vector<Option> options() override {
    return {{"run", &run_, "RUN", "A run folder, or the name of one in runs"},
            {"--json", &json_, "", "Print JSON, with all epochs"}};
  }

  void check(const CommonOptions& common, Problems& problems) override {
    if (run_.empty()) problems.emplace_back("runs show: name a run");
    refuse_configuration("runs show", common, problems);
  }

  int run(const CommonOptions& /*common*/) override {
    print_document(tracking::run_document(entry_of(run_)), json_);
    return 0;
  }

 private:
  std::string run_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_runs_show_command() { return std::make_unique<RunsShowCommand>(); }

}  // namespace trainer::cli
