// SPDX-License-Identifier: Apache-2.0
// `trainer runs list [FOLDER]`: the runs of a folder, a row each.
// `trainer runs show RUN`: what happened in a run.
// `trainer runs compare RUN RUN...`: what differs, in settings and results.
// `trainer runs note RUN [TEXT]`: a note about a run, which lists show.

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "trainer/base/io/terminal.h"
#include "trainer/base/text/format.h"
#include "trainer/base/text/print_safely.h"
#include "trainer/run/tracking/comparison.h"
#include "trainer/run/tracking/query.h"
#include "trainer/run/tracking/run_document.h"
#include "trainer/run/tracking/run_entry.h"
#include "trainer/run/tracking/run_list.h"

#include "cli/commands.h"
#include "cli/print_document.h"
#include "cli/runs_options.h"

namespace trainer::cli {
namespace {

class RunsListCommand : public Command {
 public:
  std::vector<Option> options() override {
    std::vector<Option> options = {
        folder_option(folder_),
        filter_option(filters_),
        {"--sort", &sort_, "NAME",
         "Sort by a column, metric or key; metrics with the best first, -NAME the other way round"},
        {"--columns", &columns_, "NAME,...", "Further columns: metrics and keys"},
        {"--limit", &limit_text_, "N", "Show the first N only"}};
    for (Option& option : format_.options()) options.push_back(std::move(option));
    return options;
  }

  void check(const CommonOptions& common, Problems& problems) override {
    parse_count("--limit", limit_text_, limit_, problems);
    format_.check("runs list", problems);
    refuse_configuration("runs list", common, problems);
  }

  int run(const CommonOptions& /*common*/) override {
    std::vector<tracking::RunEntry> entries = entries_of(folder_, filters_);
    std::vector<std::string> columns = tracking::usual_columns(entries);
    const auto add = [&](std::string_view name) {
      std::string full = tracking::full_name(name, entries);
      if (std::find(columns.begin(), columns.end(), full) == columns.end()) {
        columns.push_back(std::move(full));
      }
    };
    if (!sort_.empty()) {
      tracking::sort_entries(entries, sort_);
      add(std::string_view(sort_).substr(sort_.starts_with('-') ? 1 : 0));
    }
    for (const std::string& name : names_in(columns_)) add(name);
    const std::size_t count =
        std::min(entries.size(), limit_ > 0 ? static_cast<std::size_t>(limit_) : entries.size());
    print_safely(
        tracking::list_text({entries.data(), count}, columns, format_.format(), output_width()));
    if (format_.format() == tracking::ListFormat::kText) say_the_rest(entries, count);
    return 0;
  }

 private:
  void say_the_rest(const std::vector<tracking::RunEntry>& entries, std::size_t shown) const {
    if (entries.empty()) fmt::print(stderr, "no runs in {}\n", safe_for_terminal(folder_));
    if (shown < entries.size()) {
      fmt::print(stderr, "and {} more\n",
                 with_thousands(std::ssize(entries) - static_cast<int64_t>(shown)));
    }
    for (const tracking::RunEntry& entry : entries) {
      if (entry.problem.empty()) continue;
      fmt::print(stderr, "warning: {}\n", safe_for_terminal(entry.problem));
    }
  }

  std::string folder_ = "runs";
  std::vector<std::string> filters_;
  std::string sort_;
  std::string columns_;
  std::string limit_text_;
  int64_t limit_ = 0;
  ListFormatOptions format_;
};

}  // namespace

std::unique_ptr<Command> make_runs_list_command() { return std::make_unique<RunsListCommand>(); }

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
};

}  // namespace

std::unique_ptr<Command> make_runs_show_command() { return std::make_unique<RunsShowCommand>(); }

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
