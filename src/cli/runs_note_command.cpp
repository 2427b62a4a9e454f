// SPDX-License-Identifier: Apache-2.0
// `trainer runs note RUN [TEXT]`: a note about a run, which lists show.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "trainer/base/text/print_safely.h"
#include "trainer/run/tracking/notes.h"

#include "cli/command.h"
#include "cli/runs_options.h"

namespace trainer::cli {
namespace {

class RunsNoteCommand : public Command {
 public:
  std::vector<Option> options() override {
    return {{"run", &run_, "RUN", "A run folder, or the name of one in runs"},
            {"text", &text_, "TEXT", "The note; \"\" removes it; without TEXT it is printed"}};
  }

  void check(const CommonOptions& common, Problems& problems) override {
    if (run_.empty()) problems.emplace_back("runs note: name a run");
    refuse_configuration("runs note", common, problems);
  }

  int run(const CommonOptions& /*common*/) override {
    const tracking::RunEntry entry = entry_of(run_);
    if (text_) {
      tracking::write_note(entry.folder, *text_);
    } else if (!entry.note.empty()) {
      print_safely(fmt::format("{}\n", entry.note));
    }
    return 0;
  }

 private:
  std::string run_;
  std::optional<std::string> text_;
};

}  // namespace

std::unique_ptr<Command> make_runs_note_command() { return std::make_unique<RunsNoteCommand>(); }

}  // namespace trainer::cli
