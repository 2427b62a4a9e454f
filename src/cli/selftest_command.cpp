// SPDX-License-Identifier: Apache-2.0
// `trainer selftest resume`: proves that killed runs end with the same bits.
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "trainer/base/text/document.h"
#include "trainer/base/text/format.h"
#include "trainer/workflows/experiments/resume_selftest.h"

#include "cli/commands.h"
#include "cli/print_document.h"

namespace trainer::cli {
namespace {

std::string times(int64_t count) {
  return count == 1 ? "once" : fmt::format("{} times", with_thousands(count));
}

Document results_document(const experiments::ResumeSelftestReport& report) {
  Document document;
  document.line(
      "reference",
      fmt::format("{} epochs, {} steps in {}", with_thousands(report.end.epoch),
                  with_thousands(report.end.step), human_duration(report.training_seconds)));
  document.line("interrupted",
                fmt::format("{} by SIGKILL, {} during training", times(report.num_kills),
                            times(report.num_kills_in_training)));
  document.line(
      "compared",
      fmt::format("{} with the reference: weights, optimizer, counters and metrics are bit for "
                  "bit identical",
                  report.num_runs == 1 ? "1 run" : fmt::format("{} runs", report.num_runs)));
  return document;
}

class SelftestResumeCommand : public Command {
 public:
  std::vector<Option> options() override {
    return {{"--kills", &kills_, "VALUE", "Number of kills (default: 5)"}};
  }

  void check(const CommonOptions& common, Problems& problems) override {
    if (common.resume)
      problems.emplace_back(
          "--resume is not supported by selftest resume, which starts its own runs");
    parse_count("--kills", kills_, num_kills_, problems);
  }

  int run(const CommonOptions& common) override {
    experiments::ResumeSelftestRequest request;
    for (const std::filesystem::path& file : common.config_files) {
      request.documents.push_back(config::read_document(file));
    }
    request.overrides = common.overrides;
    request.num_kills = num_kills_;
    apply_quiet(common);
    const experiments::ResumeSelftestReport report = experiments::selftest_resume(request);
    if (report.stop_signal != 0) return 128 + report.stop_signal;
    print_document(results_document(report), false);
    return 0;
  }

 private:
  std::string kills_;
  int64_t num_kills_ = 5;
};

}  // namespace

std::unique_ptr<Command> make_selftest_resume_command() {
  return std::make_unique<SelftestResumeCommand>();
}

}  // namespace trainer::cli
