// SPDX-License-Identifier: Apache-2.0
// `trainer runs watch RUN`: shows the progress of a run that another process trains.
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "trainer/base/error.h"
#include "trainer/base/io/terminal.h"
#include "trainer/base/signals.h"
#include "trainer/base/text/print_safely.h"
#include "trainer/run/folder/history.h"

#include "cli/commands.h"
#include "cli/live_view.h"
#include "cli/runs_options.h"

namespace trainer::cli {
namespace {

constexpr std::chrono::milliseconds kBetweenLooks{500};

/// On a terminal, redraws the view in the same lines; elsewhere, prints a line for each new epoch.
class Screen {
 public:
  void show(const tracking::RunEntry& entry, const run::History& history) {
    if (terminal_.redraws) {
      redraw(live_view(entry, history, standard_output_terminal().width - 1,
                       terminal_.unicode ? Ink::kBlocks : Ink::kAscii));
      return;
    }
    for (; num_epochs_ < history.epochs.size(); ++num_epochs_) {
      print_safely(
          fmt::format("{}\n", epoch_line(history.epochs[num_epochs_], entry.planned_epochs)));
    }
    std::fflush(stdout);
  }

 private:
  void redraw(const std::vector<std::string>& lines) {
    if (num_lines_ > 0) fmt::print("\033[{}A", num_lines_);
    for (const std::string& line : lines) fmt::print("\033[2K{}\n", safe_for_terminal(line));
    fmt::print("\033[J");
    num_lines_ = lines.size();
    std::fflush(stdout);
  }

  Terminal terminal_ = standard_output_terminal();
  std::size_t num_lines_ = 0;
  std::size_t num_epochs_ = 0;
};

class RunsWatchCommand : public Command {
 public:
  std::vector<Option> options() override {
    return {{"run", &run_, "RUN", "A run folder, or the name of one in runs"}};
  }

  void check(const CommonOptions& common, Problems& problems) override {
    if (run_.empty()) problems.emplace_back("runs watch: name a run");
    refuse_configuration("runs watch", common, problems);
  }

  int run(const CommonOptions& /*common*/) override {
    tracking::RunEntry entry = entry_of(run_);
    if (entry.kind != tracking::Kind::kRun) {
      throw Error(ErrorKind::kUsage,
                  fmt::format("{}: expected a single run; watch one of the runs in it", run_));
    }
    Screen screen;
    watch_signals();
    while (true) {
      screen.show(entry, run::read_history(entry.folder));
      if (entry.state != tracking::State::kRunning || stop_request() != 0) break;
      std::this_thread::sleep_for(kBetweenLooks);
      entry = tracking::read_entry(entry.folder).value_or(entry);
    }
    if (!standard_output_terminal().redraws) {
      print_safely(fmt::format("{}{}\n", to_text(entry.state),
                               entry.reason.empty() ? "" : fmt::format(": {}", entry.reason)));
    }
    return 0;
  }

 private:
  std::string run_;
};

}  // namespace

std::unique_ptr<Command> make_runs_watch_command() { return std::make_unique<RunsWatchCommand>(); }

}  // namespace trainer::cli
