// SPDX-License-Identifier: Apache-2.0
#include "cli/train_runs.h"

#include "trainer/base/io/log.h"
#include "trainer/base/text/json.h"
#include "trainer/config/logging_config.h"

#include "cli/libraries.h"
#include "cli/progress_bar.h"

namespace trainer::cli {

nlohmann::ordered_json with_folder(const std::filesystem::path& folder, const std::string& json) {
  Json result = {{"folder", folder.string()}};
  result.update(parse_json(json));
  return result;
}

experiments::RunOutcome train_one_of_several(const CommonOptions& common,
                                             const experiments::RunJob& job) {
  engine::TrainRequest request;
  request.config = job.config;
  request.resume = job.resume;
  request.on_change = common.allow_changes ? engine::OnChange::kAllow : engine::OnChange::kRefuse;
  request.command_line = common.command_line;
  request.is_alone = job.place.size > 1;
  const bool is_quiet = job.place.rank > 0;  // only rank 0 shows messages and progress
  if (!is_quiet) request.progress = make_progress_listener();
  const auto show = [&](log::Level level) {
    if (!is_quiet) log::set_console_level(level);
  };
  if (common.verbosity != Verbosity::kVerbose) show(log::Level::kWarning);
  log::set_console_format(config::console_format(job.config.config.logging.format));
  const engine::TrainReport report = engine_library().train(request);
  log::close_file();
  log::clear_status();
  if (common.verbosity == Verbosity::kNormal) show(log::Level::kInfo);
  return {report.run_dir, report.stop_signal};
}

}  // namespace trainer::cli
