// SPDX-License-Identifier: Apache-2.0
#include "cli/model_data.h"

#include <filesystem>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "trainer/config/dump.h"
#include "trainer/config/load.h"
#include "trainer/core/error.h"
#include "trainer/core/log.h"
#include "trainer/cpu/cpus.h"

namespace trainer::cli {

namespace fs = std::filesystem;

apply::Model load_model(const Arguments& arguments) {
  apply::Model model = apply::load_model(arguments.paths.front());
  if (model.position.step == 0) {
    log::warning(
        fmt::format("{}: this model has not been trained a step; its weights are the "
                    "initial ones",
                    model.file.string()));
  }
  return model;
}

void refuse_checkpoints(const fs::path& output, const fs::path& checkpoint) {
  if (output == "-") return;
  std::error_code ignored;
  const fs::path folder = checkpoint.parent_path();
  const bool is_among_them = folder.filename() == "checkpoints" &&
                             fs::equivalent(folder, fs::absolute(output).parent_path(), ignored);
  if (is_among_them) {
    throw Error(
        ErrorKind::kUsage,
        fmt::format("--output: {} would stand among the checkpoints of the run; choose another "
                    "folder",
                    output.string()));
  }
  if (!fs::equivalent(output, checkpoint, ignored)) return;
  throw Error(
      ErrorKind::kUsage,
      fmt::format("--output: {} is the model itself; choose another name", output.string()));
}

config::Config config_for(const Arguments& arguments, const apply::Model& model) {
  config::Config config = model.config;
  config.threads = 0;
  std::vector<config::Override> overrides = arguments.overrides;
  if (!arguments.delimiter.empty()) {
    overrides.push_back({"data.delimiter", arguments.delimiter, "--delimiter"});
  }
  if (!arguments.decimal.empty()) {
    overrides.push_back({"data.decimal", arguments.decimal, "--decimal"});
  }
  return config::load({{model.file.string(), config::dump({config, {}}), ""}}, overrides).config;
}

// A pipe has no name that could say more than that of the training data.
data::CsvFormat format_of(const config::DataConfig& data, const data::Schema& schema,
                          const std::string& given) {
  data::CsvFormat format = data::csv_format(data, given == "-" ? data.path : given);
  format.missing = data::MissingValues(schema.missing);
  return format;
}

int64_t threads_of(const config::Config& config) {
  return config.threads > 0 ? config.threads : cpu::usable_cpus();
}

}  // namespace trainer::cli
