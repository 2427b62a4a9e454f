// SPDX-License-Identifier: Apache-2.0
// `trainer profile`: some steps of a configuration, and where their time and memory go.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "trainer/core/format.h"
#include "trainer/core/json.h"
#include "trainer/core/log.h"
#include "trainer/core/print_safely.h"
#include "trainer/profile/profile.h"

#include "cli/command.h"
#include "cli/engine_library.h"
#include "cli/resolve_config.h"
#include "cli/time_measurement.h"

namespace trainer::cli {
namespace {

double quantile(std::vector<double> values, double q) {
  const auto index = static_cast<std::size_t>(q * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(index),
                   values.end());
  return values[index];
}

double median(const std::vector<double>& values) { return quantile(values, 0.5); }

// What a measured step takes more than one that is not measured, as a fraction.
double cost_of_measuring(const engine::ProfileReport& report) {
  return median(report.step_seconds) / median(report.step_seconds_bare) - 1;
}

std::string steps_text(const engine::ProfileReport& report) {
  return fmt::format(
      "A step takes {} (median; 90 % of them at most {}), and {} when nothing is measured "
      "({:+.1f} %).\n",
      precise_duration(median(report.step_seconds)),
      precise_duration(quantile(report.step_seconds, 0.9)),
      precise_duration(median(report.step_seconds_bare)), 100 * cost_of_measuring(report));
}

class ProfileCommand : public Command {
 public:
  std::vector<Option> options() override {
    return {{"--steps", &steps_text_, "N", "Steps to measure (default: 200)"},
            time_.trace_option(),
            {"--json", &json_, "", "Print JSON"}};
  }

  void check(const CommonOptions& common, Problems& problems) override {
    refuse_resume("profile", common, problems);
    parse_count("--steps", steps_text_, num_steps_, problems);
  }

  int run(const CommonOptions& common) override {
    require_config(common, "profile");
    engine::ProfileRequest request;
    time_.start();
    request.config = resolve_config(common, checkpoint::OpenMode::kReadOnly).config;
    request.num_steps = num_steps_;
    const engine::ProfileReport report = engine_library().profile(request);
    log::clear_status();
    const profile::Profile profile = time_.finish(report.workload);
    json_ ? print_json(profile, report) : print_text(profile, report);
    return 0;
  }

 private:
  static void print_text(const profile::Profile& profile, const engine::ProfileReport& report) {
    print_safely(fmt::format("{}\n{}", profile::profile_text(profile), steps_text(report)));
  }

  static void print_json(const profile::Profile& profile, const engine::ProfileReport& report) {
    Json json = profile::profile_json(profile);
    json["step_seconds_median"] = median(report.step_seconds);
    json["step_seconds_90_percent"] = quantile(report.step_seconds, 0.9);
    json["step_seconds_median_unmeasured"] = median(report.step_seconds_bare);
    print_safely(fmt::format("{}\n", json.dump(2)));
  }

  std::string steps_text_;
  int64_t num_steps_ = 200;
  bool json_ = false;
  TimeMeasurement time_;
};

}  // namespace

std::unique_ptr<Command> make_profile_command() { return std::make_unique<ProfileCommand>(); }

}  // namespace trainer::cli
