// SPDX-License-Identifier: Apache-2.0
// `trainer report RUN [RUN...]`: one HTML file about runs.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "trainer/base/error.h"
#include "trainer/base/io/atomic_file.h"
#include "trainer/base/parallel/cpus.h"
#include "trainer/base/signals.h"
#include "trainer/base/text/format.h"
#include "trainer/base/text/print_safely.h"
#include "trainer/report/html/report.h"
#include "trainer/run/folder/run_dir.h"

#include "cli/commands.h"
#include "cli/model_options.h"
#include "cli/runs_options.h"
#include "cli/train_runs.h"

namespace trainer::cli {
namespace {

constexpr std::chrono::milliseconds kPause{500};
constexpr int kNumPauses = 6;

class ReportCommand : public Command {
 public:
  std::vector<Option> options() override {
    return {{"runs", &runs_, "RUN ...",
             "Run folders, or names of runs in runs (default: the newest one)"},
            {"-o,--output", &output_, "FILE", "Where to write (report.html in the run folder)"},
            {"--no-data", &without_data_, "",
             "Do not read the data of the runs: no curves of classes, residuals and worst rows"},
            {"--watch", &watch_, "", "Write it again every few seconds, while a run goes on"}};
  }

  void check(const CommonOptions& common, Problems& problems) override {
    if (runs_.empty()) check_model("report", "", problems);
    if (runs_.size() > 1 && output_.empty()) {
      problems.emplace_back("report: several runs need --output FILE");
    }
    refuse_configuration("report", common, problems);
  }

  int run(const CommonOptions& /*common*/) override {
    const std::vector<std::string> runs = runs_.empty() ? std::vector{model_path("")} : runs_;
    if (watch_) watch_signals();
    bool is_first = true;
    while (write(entries_of_runs(runs), is_first) && stop_request() == 0) {
      is_first = false;
      for (int i = 0; i < kNumPauses && stop_request() == 0; ++i) {
        std::this_thread::sleep_for(kPause);
      }
    }
    return stop_request() == 0 ? 0 : 128 + stop_request();
  }

 private:
  // Returns whether the report is to be written again, because a run goes on.
  bool write(const std::vector<tracking::RunEntry>& entries, bool is_shown) const {
    const bool is_running =
        watch_ && std::any_of(entries.begin(), entries.end(), [](const tracking::RunEntry& entry) {
          return entry.state == tracking::State::kRunning;
        });
    const std::filesystem::path path = output_.empty()
                                           ? run::RunDir{entries.front().folder}.report()
                                           : std::filesystem::path(output_);
    const std::string html =
        report::report_html(entries, {.evaluates = !without_data_ && !is_running,
                                      .num_threads = usable_cpus(),
                                      .refreshes = is_running});
    write(path, html);
    if (is_shown || !is_running) {
      print_safely(fmt::format("report      {} ({}{})\n", short_path(path),
                               human_bytes(html.size()),
                               is_running ? ", written again until the run ends" : ""));
      std::fflush(stdout);
    }
    return is_running;
  }

  void write(const std::filesystem::path& path, const std::string& html) const {
    try {
      write_file_atomically(path, html);
    } catch (const Error& error) {
      if (!output_.empty()) throw;
      throw Error(error.kind(), fmt::format("{}; choose another file with --output", error.what()));
    }
  }

  std::vector<std::string> runs_;
  std::string output_;
  bool without_data_ = false;
  bool watch_ = false;
};

}  // namespace

std::unique_ptr<Command> make_report_command() { return std::make_unique<ReportCommand>(); }

}  // namespace trainer::cli
