// SPDX-License-Identifier: Apache-2.0
// `trainer profile`: trains some steps of a configuration and shows where time and memory go.
#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "trainer/base/io/log.h"
#include "trainer/base/text/format.h"
#include "trainer/diagnose/profile/profile.h"

#include "cli/commands.h"
#include "cli/libraries.h"
#include "cli/print_document.h"
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

void add_steps(const engine::ProfileReport& report, Document& document) {
  const double middle = median(report.step_seconds);
  const double most = quantile(report.step_seconds, 0.9);
  const double bare = median(report.step_seconds_bare);
  document.data("step_seconds_median", middle);
  document.data("step_seconds_90_percent", most);
  document.data("step_seconds_median_unmeasured", bare);
  // The percentage says how much longer a step takes because it is measured.
  document.paragraph(fmt::format(
      "A step takes {} (median; 90 % of them at most {}), and {} when nothing is measured "
      "({:+.1f} %).",
      precise_duration(middle), precise_duration(most), precise_duration(bare),
      100 * (middle / bare - 1)));
}

class ProfileCommand : public Command {
 public:
  bool takes_configuration() const override { return true; }

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
    Document document = profile::profile_document(time_.finish(report.workload));
    add_steps(report, document);
    print_document(document, json_);
    return 0;
  }

 private:
  std::string steps_text_;
  int64_t num_steps_ = 200;
  TimeMeasurement time_;
};

}  // namespace

std::unique_ptr<Command> make_profile_command() { return std::make_unique<ProfileCommand>(); }

}  // namespace trainer::cli
