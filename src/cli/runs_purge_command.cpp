// SPDX-License-Identifier: Apache-2.0
// `trainer runs purge`: deletes removed runs for good.
#include <memory>
#include <string>
#include <vector>

#include "trainer/base/text/print_safely.h"
#include "trainer/run/tracking/run_list.h"
#include "trainer/run/tracking/trash.h"

#include "cli/command.h"
#include "cli/runs_options.h"

namespace trainer::cli {
namespace {

class RunsPurgeCommand : public Command {
 public:
  std::vector<Option> options() override {
    return {{"runs", &runs_, "REMOVED ...", "The runs, by name; without, all that were removed"},
            {"--folder", &folder_, "FOLDER", "The folder that they were removed from (runs)"},
            {"--yes", &yes_, "", "Delete them; without it they are only listed"}};
  }

  void check(const CommonOptions& common, Problems& problems) override {
    refuse_configuration("runs purge", common, problems);
  }

  int run(const CommonOptions& /*common*/) override {
    const std::vector<tracking::RunEntry> entries = removed_runs(folder_, runs_);
    if (entries.empty()) {
      if (yes_) tracking::finish_removals(folder_);
      print_safely("nothing to delete\n");
      return 0;
    }
    print_safely(tracking::list_text(entries, tracking::usual_columns(entries),
                                     tracking::ListFormat::kText));
    const std::string what = count_and_size(entries);
    if (!yes_) {
      print_safely(what + "; nothing was deleted: add --yes to delete them for good\n");
      return 0;
    }
    for (const tracking::RunEntry& entry : entries) tracking::purge_run(entry.folder);
    print_safely("deleted " + what + "\n");
    return 0;
  }

 private:
  std::vector<std::string> runs_;
  std::string folder_ = "runs";
  bool yes_ = false;
};

}  // namespace

std::unique_ptr<Command> make_runs_purge_command() { return std::make_unique<RunsPurgeCommand>(); }

}  // namespace trainer::cli
