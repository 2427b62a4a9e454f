// SPDX-License-Identifier: Apache-2.0
#include "onnx_export/runtime_check.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "trainer/apply/export_samples.h"
#include "trainer/base/error.h"
#include "trainer/table/schema/encode.h"

#include "onnx_export/runtime.h"

namespace trainer::onnx_export {
namespace {

using apply::Model;
using data::Column;

/// Random rows as inputs of the file, and the features that this program computes from them.
struct Samples {
  std::vector<RuntimeInput> inputs;
  data::Matrix features;
};

Samples feature_samples(const Model& model, int64_t num_rows) {
  data::Matrix features = apply::sample_features(model, num_rows);
  const std::vector<double> numbers = apply::in_file_units(model, features);
  RuntimeInput input{"features", numbers};
  if (!apply::takes_doubles(model.schema)) {
    input.values = std::vector<float>(numbers.begin(), numbers.end());
  }
  return {{std::move(input)}, std::move(features)};
}

// Returns the cells of one column as they are in a data file; a missing text is empty.
RuntimeInput column_input(const data::Table& table, std::size_t index) {
  const Column& column = table.columns[index];
  const auto& cells = std::get<Array<float>>(table.features.values);
  std::vector<double> numbers;
  std::vector<std::string> texts;
  for (std::size_t i = index; i < cells.size(); i += table.columns.size()) {
    if (column.kind == data::ColumnKind::kNumeric) {
      numbers.push_back(data::in_file_units(column, cells[i]));
    } else if (std::isnan(cells[i])) {
      texts.emplace_back();
    } else {
      texts.push_back(table.dictionaries[index][static_cast<std::size_t>(cells[i])]);
    }
  }
  if (column.kind != data::ColumnKind::kNumeric) return {column.name, std::move(texts)};
  if (column.offset != 0) return {column.name, std::move(numbers)};
  return {column.name, std::vector<float>(numbers.begin(), numbers.end())};
}

Samples column_samples(const Model& model, int64_t num_rows) {
  data::Table table = apply::sample_cells(model, num_rows);
  Samples samples;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    samples.inputs.push_back(column_input(table, i));
  }
  samples.features =
      data::encode(model.schema.columns, model.schema.unknown_category, table).features;
  return samples;
}

}  // namespace

std::string try_in_runtime(const Model& model, const apply::ExportOptions& options,
                           const std::string& bytes, const std::string& output,
                           const std::filesystem::path& path) {
  const int64_t num_rows = options.batch.value_or(32);
  const Samples samples = options.inputs == apply::ExportInputs::kColumns
                              ? column_samples(model, num_rows)
                              : feature_samples(model, num_rows);
  std::optional<RuntimeAnswer> answer;
  try {
    answer = run_with_runtime(bytes, samples.inputs, num_rows, output);
  } catch (const Error&) {
    throw;
  } catch (const std::runtime_error& error) {
    throw Error(ErrorKind::kRuntime,
                fmt::format("{}: ONNX Runtime refuses the exported file: {}; use a newer one, or "
                            "report it as a bug in trainer",
                            path.string(), error.what()));
  }
  if (!answer) return "outputs not compared: ONNX Runtime was not found";
  const std::string program = "ONNX Runtime " + answer->version;
  apply::check_outputs(model, path, program,
                       apply::expected_outputs(model, samples.features, options.outputs),
                       answer->values);
  return fmt::format("outputs of {} rows equal within {:.1g} in {}", num_rows,
                     apply::kExportTolerance, program);
}

}  // namespace trainer::onnx_export
