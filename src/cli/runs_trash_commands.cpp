// SPDX-License-Identifier: Apache-2.0
// `trainer runs remove`: removes runs that are named or chosen by rules.
// `trainer runs restore`: brings removed runs back.
// `trainer runs purge`: deletes removed runs for good.

#include <memory>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "trainer/base/error.h"
#include "trainer/base/text/document.h"
#include "trainer/base/text/format.h"
#include "trainer/base/text/parse.h"
#include "trainer/base/text/print_safely.h"
#include "trainer/run/tracking/run_list.h"
#include "trainer/run/tracking/trash.h"

#include "cli/commands.h"
#include "cli/print_document.h"
#include "cli/runs_options.h"
#include "cli/train_runs.h"

namespace trainer::cli {
namespace {

class RunsRemoveCommand : public Command {
 public:
  std::vector<Option> options() override {
    return {{"runs", &runs_, "RUN ...", "The runs; without, all of --folder that the rules let go"},
            {"--folder", &folder_, "FOLDER", "The folder of the runs (runs)"},
            filter_option(filters_),
            {"--keep-best", &keep_best_, "N", "All but the N best"},
            {"--sort", &rules_.sort, "NAME", "What --keep-best goes by (best)"},
            {"--older-than", &older_than_, "TIME", "Those unchanged for so long: 30d, 12h"},
            {"--yes", &yes_, "", "Remove them; without it they are only listed"}};
  }

  void check(const CommonOptions& common, Problems& problems) override {
    const bool has_rules = !filters_.empty() || !keep_best_.empty() || !older_than_.empty();
    if (runs_.empty() && !has_rules) {
      problems.emplace_back(
          "runs remove: name runs, or say which by --filter, --keep-best or "
          "--older-than");
    }
    if (!runs_.empty() && has_rules) {
      problems.emplace_back("runs remove: name runs or rules, not both");
    }
    if (!keep_best_.empty()) {
      int64_t count = 0;
      parse_count("--keep-best", keep_best_, count, problems, 0);
      rules_.keep_best = count;
    }
    if (!older_than_.empty()) {
      rules_.older_than = parse_duration(older_than_);
      if (!rules_.older_than) {
        problems.push_back(fmt::format("--older-than: expected a time such as 30d or 12h, got {}",
                                       in_quotes(older_than_)));
      }
    }
    refuse_configuration("runs remove", common, problems);
  }

  int run(const CommonOptions& /*common*/) override {
    const std::vector<tracking::RunEntry> entries = chosen();
    if (entries.empty()) {
      print_safely("nothing to remove\n");
      return 0;
    }
    print_safely(tracking::list_text(entries, tracking::usual_columns(entries),
                                     tracking::ListFormat::kText, output_width()));
    const std::string what = count_and_size(entries);
    if (!yes_) {
      print_safely(what + "; nothing was removed: add --yes to remove them\n");
      return 0;
    }
    std::set<std::string> trash;
    for (const tracking::RunEntry& entry : entries) {
      trash.insert(short_path(tracking::remove_run(entry.folder).parent_path()));
    }
    Document document;
    document.line("removed", what);
    document.line("kept in", joined(std::vector(trash.begin(), trash.end())) +
                                 " until `trainer runs purge` deletes them; `trainer runs restore` "
                                 "undoes it");
    print_document(document, /*as_json=*/false);
    return 0;
  }

 private:
  std::vector<tracking::RunEntry> chosen() const {
    if (runs_.empty()) return tracking::removable(entries_of(folder_, filters_), rules_);
    std::vector<tracking::RunEntry> entries;
    for (const std::string& run : runs_) {
      entries.push_back(entry_of(run));
      if (entries.back().state != tracking::State::kRunning) continue;
      throw Error(ErrorKind::kFileSystem,
                  fmt::format("{}: this run is being worked on; stop it first", run));
    }
    return entries;
  }

  std::vector<std::string> runs_;
  std::string folder_ = "runs";
  std::vector<std::string> filters_;
  std::string keep_best_;
  std::string older_than_;
  tracking::RemovalRules rules_;
  bool yes_ = false;
};

}  // namespace

std::unique_ptr<Command> make_runs_remove_command() {
  return std::make_unique<RunsRemoveCommand>();
}

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
                                     tracking::ListFormat::kText, output_width()));
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
