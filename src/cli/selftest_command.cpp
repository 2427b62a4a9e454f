// SPDX-License-Identifier: Apache-2.0
#include "cli/selftest_command.h"

#include <string>

#include <fmt/format.h>

#include "trainer/core/labeled_lines.h"
#include "trainer/core/log.h"
#include "trainer/core/text.h"
#include "trainer/experiments/resume_selftest.h"

namespace trainer::cli {
namespace {

std::string times(int64_t count) {
  return count == 1 ? "once" : fmt::format("{} times", with_thousands(count));
}

std::string results_text(const experiments::ResumeSelftestReport& report) {
  LabeledLines lines;
  lines.add("whole run",
            fmt::format("{} epochs, {} steps in {}", with_thousands(report.end.epoch),
                        with_thousands(report.end.step), human_duration(report.training_seconds)));
  lines.add("interrupted",
            fmt::format("{} by SIGKILL, {} while it trained", times(report.num_kills),
                        times(report.num_kills_in_training)));
  lines.add("compared",
            fmt::format("{} with the whole run: weights, optimizer, counters and metrics are the "
                        "same to the bit",
                        report.num_runs == 1 ? "1 run" : fmt::format("{} runs", report.num_runs)));
  return lines.text();
}

}  // namespace

int selftest_resume_command(const Arguments& arguments) {
  experiments::ResumeSelftestRequest request;
  for (const std::filesystem::path& file : arguments.config_files) {
    request.documents.push_back(config::read_document(file));
  }
  request.overrides = arguments.overrides;
  request.num_kills = arguments.num_kills;
  if (arguments.verbosity == Verbosity::kQuiet) log::set_console_level(log::Level::kWarning);
  const experiments::ResumeSelftestReport report = experiments::selftest_resume(request);
  if (report.stop_signal != 0) return 128 + report.stop_signal;
  fmt::print("{}", results_text(report));
  return 0;
}

}  // namespace trainer::cli
