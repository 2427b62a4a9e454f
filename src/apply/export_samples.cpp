// SPDX-License-Identifier: Apache-2.0
#include "trainer/apply/export_samples.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include <fmt/format.h>

#include "trainer/apply/conformal.h"
#include "trainer/apply/predictor.h"
#include "trainer/base/error.h"
#include "trainer/base/philox.h"

namespace trainer::apply {
namespace {

/// The number of rows of each embedding table: one per category, and a last one for what is missing
/// or unknown.
std::vector<std::size_t> table_sizes(const data::Schema& schema) {
  std::vector<std::size_t> sizes;
  for (const data::Column& column : schema.columns) {
    if (data::is_embedded(column)) sizes.push_back(column.categories.size() + 1);
  }
  return sizes;
}

// Clips features to their limits, as reading a file does. An exported model does it by itself.
data::Matrix within_limits(const data::Schema& schema, data::Matrix features) {
  const FeatureLimits limits = feature_limits(schema);
  if (limits.low.empty()) return features;
  auto& values = std::get<Array<float>>(features.values);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t feature = i % limits.low.size();
    values[i] =
        data::limited(values[i], {.low = limits.low[feature], .high = limits.high[feature]});
  }
  return features;
}

// The largest difference of two outputs, relative to the size of the output (without its offset)
// where that exceeds 1; infinite if an output is NaN or their numbers differ.
double largest_difference(const Model& model, std::span<const double> expected,
                          std::span<const double> got) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (got.size() != expected.size()) return kInfinity;
  const data::Scaling& targets = model.schema.target_scaling;
  const std::size_t width = std::max<std::size_t>(1, targets.offset.size());
  double largest = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double size = expected[i] - targets.offset_of(i % width);
    const double relative = std::abs(got[i] - expected[i]) / std::max(1.0, std::abs(size));
    if (std::isnan(relative)) return kInfinity;
    largest = std::max(largest, relative);
  }
  return largest;
}

// A random value of a feature, distributed like in the training split, without its offset.
float random_number(const data::Scaling& scaling, std::size_t feature, PhiloxStream& random) {
  const double deviation = scaling.scale[feature] == 0 ? 1 : 1 / scaling.scale[feature];
  return static_cast<float>(scaling.shift[feature] + random.normal() * deviation);
}

constexpr uint64_t kOneInTen = 10;

float sample_number(const Model& model, const data::Column& column, std::size_t feature,
                    PhiloxStream& random) {
  const bool may_be_missing = column.fill || column.has_missing_indicator;
  if (may_be_missing && random.below(kOneInTen) == 0) {
    return std::numeric_limits<float>::quiet_NaN();
  }
  if (!column.quantiles.empty()) {
    const float one = column.quantiles[random.below(column.quantiles.size())];
    const float other = column.quantiles[random.below(column.quantiles.size())];
    return random.below(2) == 0 ? one : one + (other - one) / 2;
  }
  return random_number(model.schema.scaling, feature, random);
}

float sample_category(const Model& model, const data::Column& column, PhiloxStream& random) {
  if (column.has_missing_indicator && random.below(kOneInTen) == 0) {
    return std::numeric_limits<float>::quiet_NaN();
  }
  const bool may_be_unknown = model.schema.unknown_category == config::UnknownCategory::kUnknown;
  return static_cast<float>(random.below(column.categories.size() + (may_be_unknown ? 1 : 0)));
}

}  // namespace

data::Matrix sample_features(const Model& model, int64_t num_rows) {
  const data::Scaling& scaling = model.schema.scaling;
  PhiloxStream random(/*seed=*/1, StreamId::kSynthetic);
  std::vector<float> values;
  values.reserve(static_cast<std::size_t>(num_rows) * scaling.shift.size());
  const std::vector<std::size_t> tables = table_sizes(model.schema);
  const std::size_t num_plain = scaling.shift.size() - tables.size();
  for (int64_t row = 0; row < num_rows; ++row) {
    for (std::size_t i = 0; i < num_plain; ++i) {
      const float value = random_number(scaling, i, random);
      // Keeps only the digits that remain of a number in a file after its offset is subtracted.
      const double offset = scaling.offset_of(i);
      values.push_back(static_cast<float>(value + offset - offset));
    }
    for (const std::size_t size : tables) values.push_back(static_cast<float>(random.below(size)));
  }
  return {.num_rows = num_rows,
          .num_columns = static_cast<int64_t>(scaling.shift.size()),
          .values = std::move(values)};
}

data::Table sample_cells(const Model& model, int64_t num_rows) {
  const std::vector<int64_t> first_features = data::first_features(model.schema.columns);
  PhiloxStream random(/*seed=*/2, StreamId::kSynthetic);
  std::vector<std::size_t> kept;
  data::Table table;
  for (std::size_t i = 0; i < model.schema.columns.size(); ++i) {
    const data::Column& column = model.schema.columns[i];
    if (!data::is_feature(column)) continue;
    kept.push_back(i);
    table.columns.push_back(column);
    table.feature_names.push_back(column.name);
    table.dictionaries.push_back(column.categories);
    table.dictionaries.back().emplace_back("(a category that is not known)");
  }
  std::vector<float> cells;
  for (int64_t row = 0; row < num_rows; ++row) {
    for (const std::size_t i : kept) {
      const data::Column& column = model.schema.columns[i];
      const auto feature = static_cast<std::size_t>(first_features[i]);
      cells.push_back(column.kind == data::ColumnKind::kNumeric
                          ? sample_number(model, column, feature, random)
                          : sample_category(model, column, random));
    }
  }
  table.num_missing.assign(kept.size(), num_rows);  // an upper bound
  table.features = {.num_rows = num_rows,
                    .num_columns = static_cast<int64_t>(kept.size()),
                    .values = std::move(cells)};
  return table;
}

std::vector<double> in_file_units(const Model& model, const data::Matrix& features) {
  const auto& values = std::get<Array<float>>(features.values);
  std::vector<double> numbers(values.begin(), values.end());
  const data::Scaling& scaling = model.schema.scaling;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] += scaling.offset_of(i % scaling.shift.size());
  }
  return numbers;
}

std::vector<double> expected_outputs(const Model& model, const data::Matrix& features,
                                     ExportOutputs outputs) {
  std::vector<float> scores;
  Predictor(model, /*num_threads=*/1).predict(within_limits(model.schema, features), scores);
  if (model.schema.task == config::Task::kRegression) return predicted_values(model, scores);
  if (outputs == ExportOutputs::kProbabilities) scores = probabilities(model, scores);
  return {scores.begin(), scores.end()};
}

std::vector<std::vector<double>> interval_outputs(const Model& model,
                                                  std::span<const double> predictions) {
  if (!model.conformal) return {};
  if (model.schema.task == config::Task::kRegression) {
    std::vector<std::vector<double>> ends(2, {predictions.begin(), predictions.end()});
    const std::vector<double>& distances = model.conformal->bounds;
    for (std::size_t i = 0; i < predictions.size(); ++i) {
      ends[0][i] -= distances[i % distances.size()];
      ends[1][i] += distances[i % distances.size()];
    }
    return ends;
  }
  const std::size_t width = model.schema.labels.size();
  std::vector<double> sets;
  for (std::size_t begin = 0; begin < predictions.size(); begin += width) {
    const std::span<const double> row = predictions.subspan(begin, width);
    const auto predicted = std::max_element(row.begin(), row.end()) - row.begin();
    const double lowest = lowest_probability(*model.conformal, row, predicted);
    for (const double p : row) sets.push_back(p >= lowest ? 1 : 0);
  }
  return {std::move(sets)};
}

void check_outputs(const Model& model, const std::filesystem::path& path, std::string_view program,
                   std::span<const double> expected, std::span<const double> got) {
  const double difference = largest_difference(model, expected, got);
  if (difference <= kExportTolerance) return;
  throw Error(ErrorKind::kRuntime,
              fmt::format("{}: the outputs of the exported file in {} differ by {:.2g} from those "
                          "of trainer; this is a bug in trainer, please report it",
                          path.string(), program, difference));
}

}  // namespace trainer::apply
