// SPDX-License-Identifier: Apache-2.0
#include "cli/train_command.h"

#include <cstdio>
#include <filesystem>
#include <string>

#include <fmt/format.h>

#include "trainer/core/error.h"
#include "trainer/core/log.h"
#include "trainer/core/signals.h"
#include "trainer/core/text.h"

#include "cli/engine_library.h"
#include "cli/progress_bar.h"
#include "cli/shell_word.h"

namespace trainer::cli {
namespace {

constexpr const char* kResumeAuto = "auto";

log::Level console_level(const Arguments& arguments, config::LogLevel configured) {
  switch (arguments.verbosity) {
    case Verbosity::kQuiet:
      return log::Level::kWarning;
    case Verbosity::kVerbose:
      return log::Level::kDebug;
    case Verbosity::kNormal:
      break;
  }
  return static_cast<log::Level>(configured);
}

// As short as it can be typed again from here.
std::string short_path(const std::filesystem::path& path) {
  const std::filesystem::path relative = path.lexically_proximate(std::filesystem::current_path());
  const bool inside = !relative.empty() && *relative.begin() != "..";
  return (inside ? relative : path).string();
}

std::string results_text(const engine::TrainReport& report) {
  std::string text;
  const auto line = [&](const char* name, const std::string& value) {
    text += fmt::format("{:<11} {}\n", name, value);
  };
  line("trained", fmt::format("{} epochs, {} steps in {}{}", report.epochs,
                              with_thousands(report.steps), human_duration(report.time_seconds),
                              report.stopped_early ? " (stopped early)" : ""));
  if (report.best) {
    line("best epoch", fmt::format("{} ({} {})", report.best->epoch, report.best_metric,
                                   loss_text(report.best->value)));
  }
  if (report.test) {
    line("test", metrics::summary_text(*report.test) + " (best epoch)");
  } else if (report.validation) {
    line("validation", metrics::summary_text(*report.validation) + " (best epoch)");
  }
  if (report.recoveries.skipped_steps > 0) {
    line("skipped", fmt::format("{} steps that were not finite",
                                with_thousands(report.recoveries.skipped_steps)));
  }
  if (report.recoveries.rollbacks > 0) {
    line("rollbacks",
         fmt::format("{}, each with half the learning rate", report.recoveries.rollbacks));
  }
  if (const int64_t times = report.recoveries.out_of_memory; times > 0) {
    const int64_t rows = report.recoveries.rows_at_once;
    line("memory",
         fmt::format(
             "ran out {}; the run went on {}", times == 1 ? "once" : fmt::format("{} times", times),
             rows == 0 ? std::string("on the CPU") : fmt::format("with {} rows at once", rows)));
  }
  if (report.recoveries.overflowed_steps > 0) {
    line("overflows", fmt::format("{} steps made again with a smaller loss scale",
                                  with_thousands(report.recoveries.overflowed_steps)));
  }
  const std::string folder = short_path(report.run_dir);
  line("run folder", folder);
  if (report.stop_signal != 0) {
    line("stopped", fmt::format("by {}; go on with: trainer --resume {}",
                                name_of_signal(report.stop_signal), shell_word(folder)));
  }
  return text;
}

}  // namespace

ResolvedArguments resolve(const Arguments& arguments, checkpoint::Purpose purpose) {
  const bool search = arguments.resume == kResumeAuto;
  ResolvedArguments resolved;
  std::vector<config::Document> documents;
  if (arguments.resume && !search) {
    resolved.resume = checkpoint::open_checkpoint(*arguments.resume, purpose);
    documents.push_back({resolved.resume->file.string(), resolved.resume->checkpoint.config, ""});
  }
  for (const std::filesystem::path& file : arguments.config_files) {
    documents.push_back(config::read_document(file));
  }
  resolved.config = config::load(documents, arguments.overrides);
  if (search) {
    const config::Config& config = resolved.config.config;
    resolved.resume = checkpoint::find_same_run(config.output_dir, config, purpose);
  }
  return resolved;
}

int train_command(const Arguments& arguments) {
  const bool names_a_run = arguments.resume && arguments.resume != kResumeAuto;
  if (!names_a_run && arguments.config_files.empty() && arguments.overrides.empty()) {
    throw Error(
        ErrorKind::kUsage,
        "expected a configuration, got nothing; try trainer --config configs/train.yaml, or "
        "trainer --help");
  }
  ResolvedArguments resolved = resolve(arguments, checkpoint::Purpose::kContinue);
  log::set_console_level(console_level(arguments, resolved.config.config.logging.level));
  engine::TrainRequest request;
  request.config = std::move(resolved.config);
  request.resume = std::move(resolved.resume);
  request.on_change =
      arguments.allow_changes ? engine::OnChange::kAllow : engine::OnChange::kRefuse;
  if (arguments.resume == kResumeAuto) request.beginning = engine::Beginning::kUnlessBegun;
  request.command_line = arguments.command_line;
  request.progress = make_progress_listener();
  const engine::TrainReport report = engine_library().train(request);
  log::clear_status();
  // Without an exception: the terminal may be gone (SIGHUP), and main() looks for errors.
  std::fputs(results_text(report).c_str(), stdout);
  return report.stop_signal == 0 ? 0 : 128 + report.stop_signal;
}

}  // namespace trainer::cli
