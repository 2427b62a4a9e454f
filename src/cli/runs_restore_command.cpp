// SPDX-License-Identifier: Apache-2.0
// `trainer runs restore`: brings removed runs back.
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "trainer/base/text/print_safely.h"
#include "trainer/run/tracking/trash.h"

#include "cli/command.h"
#include "cli/runs_options.h"

namespace trainer::cli {
namespace {

class RunsRestoreCommand : public Command {
 public:
  std::vector<Option> options() override {
    return {{"runs", &runs_, "REMOVED ...", "The runs to bring back, by name"},
            {"--folder", &folder_, "FOLDER", "The folder that they were removed from (runs)"}};
  }

  void check(const CommonOptions& common, Problems& problems) override {
    if (runs_.empty()) {
      problems.emplace_back("runs restore: name runs; `trainer runs purge` lists removed ones");
    }
    refuse_configuration("runs restore", common, problems);
  }

  int run(const CommonOptions& /*common*/) override {
    for (const tracking::RunEntry& entry : removed_runs(folder_, runs_)) {
      print_safely(fmt::format("restored {}\n", tracking::restore_run(entry.folder).string()));
    }
    return 0;
  }

 private:
  std::vector<std::string> runs_;
  std::string folder_ = "runs";
};

}  // namespace

std::unique_ptr<Command> make_runs_restore_command() {
  return std::make_unique<RunsRestoreCommand>();
}

}  // namespace trainer::cli
