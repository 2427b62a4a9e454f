// SPDX-License-Identifier: Apache-2.0
#include "cli/eval_command.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "trainer/apply/evaluate.h"
#include "trainer/core/labeled_lines.h"
#include "trainer/core/log.h"
#include "trainer/core/text.h"

#include "cli/model_data.h"

namespace trainer::cli {
namespace {

std::string data_name(const Arguments& arguments, const apply::Evaluated& evaluated) {
  if (evaluated.part.empty()) return arguments.data == "-" ? "standard input" : arguments.data;
  return fmt::format("the {} part of the run", evaluated.part);
}

std::string as_text(const apply::Model& model, const std::string& data,
                    const metrics::Report& report) {
  LabeledLines lines;
  lines.add("model", fmt::format("{} (epoch {})", model.file.string(), model.position.epoch));
  lines.add("data", fmt::format("{}: {}", data, counted(report.num_rows, "row")));
  lines.append(metrics::result_lines("result", report));
  const std::string details = metrics::details_text(report);
  return lines.text() + (details.empty() ? "" : "\n" + details);
}

std::string as_json(const apply::Model& model, const std::string& data,
                    const metrics::Report& report) {
  nlohmann::ordered_json json = {
      {"model", model.file.string()}, {"epoch", model.position.epoch}, {"data", data}};
  json.update(metrics::to_json(report));
  return json.dump(2) + "\n";
}

}  // namespace

int eval_command(const Arguments& arguments) {
  if (arguments.verbosity == Verbosity::kQuiet) log::set_console_level(log::Level::kWarning);
  const apply::Model model = load_model(arguments);
  const config::Config config = config_for(arguments, model);
  const int64_t num_threads = threads_of(config);
  const apply::Evaluated evaluated =
      arguments.data.empty()
          ? apply::evaluate_own_part(model, num_threads)
          : apply::evaluate_file(model,
                                 {.data = arguments.data,
                                  .targets = arguments.targets,
                                  .format = format_of(config.data, model.schema, arguments.data),
                                  .num_threads = num_threads});
  if (evaluated.num_without_target > 0) {
    log::info(fmt::format("{} without a target {} left out",
                          counted(evaluated.num_without_target, "row"),
                          evaluated.num_without_target == 1 ? "is" : "are"));
  }
  for (const std::string& warning : evaluated.warnings) log::warning(warning);
  const std::string data = data_name(arguments, evaluated);
  fmt::print("{}", arguments.json ? as_json(model, data, evaluated.report)
                                  : as_text(model, data, evaluated.report));
  return 0;
}

}  // namespace trainer::cli
