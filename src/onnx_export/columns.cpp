// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <numeric>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "trainer/core/error.h"
#include "trainer/core/text.h"
#include "trainer/data/csv.h"

#include "onnx_export/parts.h"

namespace trainer::onnx_export {
namespace {

using data::Column;
using data::ColumnKind;

constexpr int64_t kFloat = onnx::TensorProto::FLOAT;

Error refused(const std::string& what) {
  return {ErrorKind::kUsage,
          fmt::format("--preprocessing: {}; export without it, then the input is the matrix of "
                      "features",
                      what)};
}

// Every spelling of a missing cell: the operator that looks texts up knows capitals from others.
std::vector<std::string> missing_texts() {
  std::vector<std::string> texts;
  for (const std::string_view lower : data::kMissingTexts) {
    for (unsigned capitals = 0; capitals < 1U << lower.size(); ++capitals) {
      std::string text(lower);
      bool is_new = true;
      for (std::size_t i = 0; i < text.size(); ++i) {
        const bool is_letter = text[i] >= 'a' && text[i] <= 'z';
        const bool is_capital = (capitals >> i & 1U) != 0;
        if (is_capital && is_letter) text[i] = static_cast<char>(text[i] - 'a' + 'A');
        if (is_capital && !is_letter) is_new = false;
      }
      if (is_new) texts.push_back(std::move(text));
    }
  }
  return texts;
}

Name as_float(GraphBuilder& graph, const Name& value) {
  return graph.node("Cast", {value}, {attribute("to", kFloat)});
}

// The cell or its fill, and a mark of what is missing.
void add_numeric(GraphBuilder& graph, const Column& column, std::vector<Name>& features) {
  const Name cell =
      graph.input(column.name, onnx::TensorProto::FLOAT, 1, "a number, NaN where missing");
  if (!column.fill && !column.marks_missing) {
    features.push_back(cell);
    return;
  }
  const Name missing = graph.node("IsNaN", {cell});
  const Name fill = column.fill ? graph.number(column.name + ".fill", *column.fill) : cell;
  features.push_back(column.fill ? graph.node("Where", {missing, fill, cell}) : cell);
  if (column.marks_missing) features.push_back(as_float(graph, missing));
}

// [batch, 1] the number of each cell's category; that of missing cells is the one behind theirs if
// the column marks them, and what is in no list becomes `other`.
Name category_numbers(GraphBuilder& graph, const Column& column, int64_t other) {
  const Name cell =
      graph.input(column.name, onnx::TensorProto::STRING, 1, "a text, empty where missing");
  std::vector<std::string> texts = column.categories;
  std::vector<int64_t> numbers(texts.size());
  std::iota(numbers.begin(), numbers.end(), 0);
  if (column.marks_missing) {
    const std::vector<std::string> missing = missing_texts();
    texts.insert(texts.end(), missing.begin(), missing.end());
    numbers.resize(texts.size(), static_cast<int64_t>(column.categories.size()));
  }
  return graph.node("LabelEncoder", {cell},
                    {attribute("keys_strings", texts), attribute("values_int64s", numbers),
                     attribute("default_int64", other)},
                    "ai.onnx.ml");
}

// 1 for the cell's own category, else 0.
void add_categorical(GraphBuilder& graph, const Column& column, std::vector<Name>& features) {
  const Name numbers = category_numbers(graph, column, /*other=*/-1);
  std::vector<int64_t> all(static_cast<std::size_t>(data::num_features(column)));
  std::iota(all.begin(), all.end(), 0);
  const Shape shape = {1, static_cast<int64_t>(all.size())};
  const Name each = graph.constant(column.name + ".categories", shape, all);
  features.push_back(as_float(graph, graph.node("Equal", {numbers, each})));
}

}  // namespace

void check_columns(const apply::Model& model) {
  if (model.schema.columns.empty()) throw refused("the model's data are no table with columns");
  for (const Column& column : model.schema.columns) {
    const std::string name = in_quotes(column.name);
    if (column.embedding_size > 0) throw refused(fmt::format("column {} is embedded", name));
    if (!column.quantiles.empty()) {
      throw refused(fmt::format("column {} is scaled by its quantiles", name));
    }
  }
}

Name add_columns(GraphBuilder& graph, const data::Schema& schema) {
  std::vector<Name> features;
  for (const Column& column : schema.columns) {
    if (column.kind == ColumnKind::kNumeric) add_numeric(graph, column, features);
    if (column.kind == ColumnKind::kCategorical) add_categorical(graph, column, features);
  }
  if (features.size() == 1) return features.front();
  return graph.node("Concat", features, {attribute("axis", int64_t{1})});
}

}  // namespace trainer::onnx_export
