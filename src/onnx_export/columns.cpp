// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <string>
#include <vector>

#include "trainer/apply/cell_texts.h"
#include "trainer/base/error.h"

#include "onnx_export/parts.h"

namespace trainer::onnx_export {
namespace {

using data::Column;
using data::ColumnKind;

constexpr int64_t kFloat = onnx::TensorProto::FLOAT;

Name as_float(GraphBuilder& graph, const Name& value) { return graph.cast(value, kFloat); }

// Adds the input of a column. Returns its cells with missing values as NaN, without the offset of
// the column.
Name add_cell(GraphBuilder& graph, const Column& column, const apply::MissingValues& codes) {
  constexpr const char* kMeaning = "a number, NaN where missing";
  const bool is_double = column.offset != 0;
  const auto number = [&](const char* name, double value) {
    return is_double ? graph.constant(column.name + name, {}, std::span<const double>(&value, 1))
                     : graph.number(column.name + name, static_cast<float>(value));
  };
  Name cell = graph.input(
      column.name, is_double ? onnx::TensorProto::DOUBLE : onnx::TensorProto::FLOAT, 1, kMeaning);
  for (const double code : codes.numbers) {
    const Name is_missing = graph.node("Equal", {cell, number(".missing", code)});
    cell = graph.node("Where", {is_missing, number(".nan", std::nan("")), cell});
  }
  if (!is_double) return cell;
  return as_float(graph, graph.node("Sub", {cell, number(".offset", column.offset)}));
}

// Clips cells to the limits of the column. The result of Clip is undefined for NaN, so missing
// cells are restored.
Name limited(GraphBuilder& graph, const Column& column, const Name& cell) {
  if (!column.limits) return cell;
  const Name clipped =
      graph.node("Clip", {cell, graph.number(column.name + ".low", column.limits->low),
                          graph.number(column.name + ".high", column.limits->high)});
  return graph.node("Where", {graph.node("IsNaN", {cell}), cell, clipped});
}

/// The function of data::QuantileScale as a sum over knots: the fraction of each gap between two
/// different quantiles that is below a value, and steps at quantiles that occur several times.
struct Knots {
  float first = 0;           // score of values below all quantiles
  std::vector<float> low;    // [gaps]
  std::vector<float> width;  // [gaps] distance to the next different quantile
  std::vector<float> rise;   // [gaps] rise of the score over the gap
  std::vector<float> step;   // [steps]
  std::vector<float> at;     // [steps] rise of the score at the quantile
  std::vector<float> above;  // [steps] rise of the score above it
};

Knots knots_of(const Column& column) {
  const std::vector<float>& quantiles = column.quantiles;
  const std::span<const double> scores = data::rank_scores(quantiles.size(), column.quantile_score);
  Knots knots;
  knots.first = static_cast<float>(scores.front());
  const auto rise = [&](std::size_t from, std::size_t to) {  // arguments are twice the ranks
    return static_cast<float>(scores[to] - scores[from]);
  };
  std::size_t begin = 0;
  for (std::size_t i = 0; i < quantiles.size(); ++i) {
    const bool is_last = i + 1 == quantiles.size();
    if (!is_last && quantiles[i + 1] == quantiles[i]) continue;
    if (i > begin) {
      knots.step.push_back(quantiles[i]);
      knots.at.push_back(rise(2 * begin, begin + i));
      knots.above.push_back(rise(begin + i, 2 * i));
    }
    if (!is_last) {
      knots.low.push_back(quantiles[i]);
      knots.width.push_back(quantiles[i + 1] - quantiles[i]);
      knots.rise.push_back(rise(2 * i, 2 * i + 2));
    }
    begin = i + 1;
  }
  return knots;
}

Name row_of(GraphBuilder& graph, const Name& wish, std::span<const float> values) {
  return graph.constant(wish, {1, static_cast<int64_t>(values.size())}, values);
}

Name sum_of(GraphBuilder& graph, const Name& value) {
  constexpr std::array<int64_t, 1> kAxes = {1};
  return graph.node("ReduceSum", {value, graph.constant("axes", {1}, kAxes)},
                    {attribute("keepdims", int64_t{1})});
}

// Adds the quantile score of a column. NaN stays NaN.
Name quantile_score(GraphBuilder& graph, const Column& column, const Name& value) {
  if (column.quantiles.front() == column.quantiles.back()) {
    return graph.node("Sub", {value, value});  // 0, or NaN for NaN
  }
  const Knots knots = knots_of(column);
  const auto row = [&](const char* name, const std::vector<float>& numbers) {
    return row_of(graph, column.name + name, numbers);
  };
  const auto within_0_and_1 = [&](const Name& numbers) {
    return graph.node("Clip", {numbers, graph.number("zero", 0), graph.number("one", 1)});
  };
  std::vector<Name> sums = {graph.number(column.name + ".first", knots.first)};
  if (!knots.low.empty()) {
    const Name above = graph.node("Sub", {value, row(".low", knots.low)});
    const Name part = within_0_and_1(graph.node("Div", {above, row(".width", knots.width)}));
    sums.push_back(sum_of(graph, graph.node("Mul", {part, row(".rise", knots.rise)})));
  }
  if (!knots.step.empty()) {
    const Name sign = graph.node("Sign", {graph.node("Sub", {value, row(".step", knots.step)})});
    const Name is_at = within_0_and_1(graph.node("Add", {sign, graph.number("one", 1)}));
    sums.push_back(sum_of(graph, graph.node("Mul", {is_at, row(".at", knots.at)})));
    const Name is_above = within_0_and_1(sign);
    sums.push_back(sum_of(graph, graph.node("Mul", {is_above, row(".above", knots.above)})));
  }
  Name score = graph.node("Sum", sums);
  if (column.fill) return score;
  return graph.node("Where", {graph.node("IsNaN", {value}), value, score});
}

// Adds the features of a numeric column: the cell or its fill value and, if configured, the missing
// indicator.
void add_numeric(GraphBuilder& graph, const Column& column, const apply::MissingValues& codes,
                 std::vector<Name>& features) {
  const Name cell = limited(graph, column, add_cell(graph, column, codes));
  const bool uses_missing = column.fill || column.has_missing_indicator;
  const Name missing = uses_missing ? graph.node("IsNaN", {cell}) : Name();
  Name value = cell;
  if (column.fill) {
    value = graph.node("Where", {missing, graph.number(column.name + ".fill", *column.fill), cell});
  }
  features.push_back(column.quantiles.empty() ? value : quantile_score(graph, column, value));
  if (column.has_missing_indicator) features.push_back(as_float(graph, missing));
}

// Adds the input of a column. Returns the index of each cell's category, [batch, 1]. If the column
// has a missing indicator, missing cells get the next index after the categories; all other texts
// get `other`.
Name category_numbers(GraphBuilder& graph, const Column& column, const apply::MissingValues& codes,
                      int64_t other) {
  const Name cell =
      graph.input(column.name, onnx::TensorProto::STRING, 1, "a string, empty where missing");
  const apply::CellTexts known = apply::cell_texts(column, codes);
  return graph.node("LabelEncoder", {cell},
                    {attribute("keys_strings", known.texts),
                     attribute("values_int64s", known.numbers), attribute("default_int64", other)},
                    "ai.onnx.ml");
}

// Adds the feature of a sign column: -1 for the first category, 1 for the second, else 0.
void add_sign(GraphBuilder& graph, const Column& column, const apply::MissingValues& codes,
              std::vector<Name>& features) {
  const Name numbers = category_numbers(graph, column, codes, /*other=*/-1);
  const auto is_category = [&](int64_t category) {
    const Name number = graph.constant(column.name + ".category", {}, std::span(&category, 1));
    return as_float(graph, graph.node("Equal", {numbers, number}));
  };
  features.push_back(graph.node("Sub", {is_category(1), is_category(0)}));
}

// Adds the one-hot features of a categorical column.
void add_categorical(GraphBuilder& graph, const Column& column, const apply::MissingValues& codes,
                     std::vector<Name>& features) {
  const Name numbers = category_numbers(graph, column, codes, /*other=*/-1);
  std::vector<int64_t> all(static_cast<std::size_t>(data::num_features(column)));
  std::iota(all.begin(), all.end(), 0);
  const Shape shape = {1, static_cast<int64_t>(all.size())};
  const Name each = graph.constant(column.name + ".categories", shape, all);
  features.push_back(as_float(graph, graph.node("Equal", {numbers, each})));
}

}  // namespace

void check_columns(const apply::Model& model) {
  if (!model.schema.columns.empty()) return;
  throw Error(ErrorKind::kUsage,
              "--preprocessing: the model was not trained on a table with columns; export without "
              "it: the input is then the feature matrix");
}

Name add_features(GraphBuilder& graph, const data::Schema& schema, const Name& name) {
  const int64_t width = schema.num_features();
  Name features = graph.input(
      name, apply::takes_doubles(schema) ? onnx::TensorProto::DOUBLE : onnx::TensorProto::FLOAT,
      width, "features as encoded by trainer, not scaled");
  if (apply::takes_doubles(schema)) {
    const Name offset = graph.constant("features.offset", {width}, schema.scaling.offset);
    features = as_float(graph, graph.node("Sub", {features, offset}));
  }
  const apply::FeatureLimits limits = apply::feature_limits(schema);
  if (limits.low.empty()) return features;
  const Name low = graph.constant("features.low", {width}, limits.low);
  const Name high = graph.constant("features.high", {width}, limits.high);
  return graph.node("Min", {graph.node("Max", {features, low}), high});
}

Name add_columns(GraphBuilder& graph, const data::Schema& schema) {
  std::vector<Name> features;
  std::vector<Name> embedded;  // placed after all other features
  const apply::MissingValues missing = apply::missing_values(schema);
  for (const Column& column : schema.columns) {
    if (column.kind == ColumnKind::kNumeric) {
      add_numeric(graph, column, missing, features);
    } else if (data::is_embedded(column)) {
      const auto other = static_cast<int64_t>(column.categories.size());
      embedded.push_back(as_float(graph, category_numbers(graph, column, missing, other)));
    } else if (column.is_sign) {
      add_sign(graph, column, missing, features);
    } else if (column.kind == ColumnKind::kCategorical) {
      add_categorical(graph, column, missing, features);
    }
  }
  features.insert(features.end(), embedded.begin(), embedded.end());
  if (features.size() == 1) return features.front();
  return graph.node("Concat", features, {attribute("axis", int64_t{1})});
}

}  // namespace trainer::onnx_export
