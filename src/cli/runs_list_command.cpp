// SPDX-License-Identifier: Apache-2.0
// `trainer runs list [FOLDER]`: the runs of a folder, a row each.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "trainer/base/text/format.h"
#include "trainer/base/text/print_safely.h"
#include "trainer/run/tracking/query.h"
#include "trainer/run/tracking/run_list.h"

#include "cli/command.h"
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

}  // namespace trainer::cli
