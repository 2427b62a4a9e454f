// SPDX-License-Identifier: Apache-2.0
// Predicts the rows of a table: predict_rows RUN TABLE prints the probabilities of the classes.
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "trainer/apply/predictor.h"
#include "trainer/config/config.h"
#include "trainer/table/schema/encode.h"
#include "trainer/table/source/table_reader.h"

namespace apply = trainer::apply;
namespace data = trainer::data;

int main(int, char** arguments) {
  const apply::Model model = apply::load_model(arguments[1]);
  const data::TableSource source = data::file_source(model.config().data, arguments[2]);
  data::Table table = data::read_table_as(source, {.columns = model.schema.columns, .targets = {}});
  const data::Encoded rows =
      data::encode(model.schema.columns, model.schema.unknown_category, table);
  std::vector<float> outputs;
  apply::Predictor(model, /*num_threads=*/1).predict(rows.features, outputs);
  const std::vector<float> probabilities = apply::probabilities(model, outputs);
  const auto num_classes = static_cast<std::ptrdiff_t>(model.schema.labels.size());
  for (auto row = probabilities.begin(); row != probabilities.end(); row += num_classes) {
    fmt::print("{}\n", fmt::join(row, row + num_classes, ","));
  }
}
