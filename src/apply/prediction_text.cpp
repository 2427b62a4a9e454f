// SPDX-License-Identifier: Apache-2.0
#include "trainer/apply/prediction_text.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <unordered_set>
#include <utility>

#include <fmt/compile.h>
#include <fmt/format.h>

#include "trainer/apply/conformal.h"
#include "trainer/apply/export.h"
#include "trainer/apply/predictor.h"
#include "trainer/base/error.h"
#include "trainer/base/text/format.h"
#include "trainer/base/text/parse.h"
#include "trainer/metrics/classification.h"

#include "apply/prediction_text.h"

namespace trainer::apply {
namespace {

void append(std::string_view text, fmt::memory_buffer& out) {
  out.append(text.data(), text.data() + text.size());
}

template <class Values>
bool are_finite(const Values& values) {
  return std::all_of(values.begin(), values.end(), [](auto v) { return std::isfinite(v); });
}

std::vector<double> as_doubles(const std::vector<float>& values) {
  return {values.begin(), values.end()};
}

double with_fewest_digits(double value, double tolerance) {
  constexpr int kMaxDigits = 17;
  for (int digits = 1; digits < kMaxDigits; ++digits) {
    const double rounded = parse_double(fmt::format("{:.{}g}", value, digits)).value_or(value);
    if (std::abs(rounded - value) <= tolerance) return rounded;
  }
  return value;
}

// Writes a target with an offset with as few digits as its float32 distance from the offset allows.
void add_with_offset(double value, double offset, fmt::memory_buffer& out) {
  if (offset != 0) {
    const float distance = std::abs(static_cast<float>(value - offset));
    const float step = std::nextafter(distance, std::numeric_limits<float>::infinity()) - distance;
    fmt::format_to(fmt::appender(out), FMT_COMPILE("{}"), with_fewest_digits(value, step / 2.0));
  } else {
    fmt::format_to(fmt::appender(out), FMT_COMPILE("{}"), static_cast<float>(value));
  }
}

constexpr char kSetSeparator = '|';

void require_separable(const std::vector<std::string>& labels) {
  for (const std::string& label : labels) {
    if (label.find(kSetSeparator) == std::string::npos) continue;
    throw Error(ErrorKind::kData,
                fmt::format("--interval: the class {} contains {}, which separates the classes of "
                            "a set; rename it in the data",
                            in_quotes(label), kSetSeparator));
  }
}

// The columns that follow the predictions of a conformal model.
std::vector<std::string> conformal_names(const Model& model) {
  if (model.schema.num_targets() == 1) return interval_names(model);
  std::vector<std::string> names;
  for (const std::string& target : model.schema.target_names) {
    for (const std::string& name : interval_names(model))
      names.push_back(fmt::format("{}_{}", name, target));
  }
  return names;
}

}  // namespace

PredictionText::PredictionText(const Model& model, const std::vector<std::string>& id_names,
                               char delimiter, char decimal)
    : model_(model),
      names_(id_names),
      num_ids_(id_names.size()),
      delimiter_(delimiter),
      decimal_(decimal) {
  const data::Schema& schema = model.schema;
  if (schema.num_targets() > 1) {
    for (const std::string& target : schema.target_names) names_.push_back("prediction_" + target);
  } else {
    names_.emplace_back("prediction");
  }
  for (const std::string& label : schema.labels) {
    names_.push_back("p_" + label);
    fmt::memory_buffer cell;
    add_cell(label, cell);
    labels_.push_back(fmt::to_string(cell));
  }
  if (model.conformal) require_separable(schema.labels);
  for (std::string& name : conformal_names(model)) names_.push_back(std::move(name));
  std::unordered_set<std::string> seen;
  for (std::size_t i = names_.size(); i-- > 0;) {
    if (seen.insert(names_[i]).second) continue;
    throw Error(
        ErrorKind::kData,
        fmt::format("the copied column {} has the same name as a column of the predictions; rename "
                    "it in the data, or do not copy it (--keep, data.id)",
                    in_quotes(names_[i])));
  }
}

std::vector<ParquetColumn> PredictionText::columns(const std::vector<std::string>& id_types) const {
  const std::vector<std::string>& labels = model_.schema.labels;
  const bool are_whole = std::all_of(labels.begin(), labels.end(), [](const std::string& label) {
    const std::optional<int64_t> number = parse_int(label);
    return number && fmt::format("{}", *number) == label;
  });
  std::vector<ParquetColumn> columns;
  for (std::size_t i = 0; i < names_.size(); ++i) {
    std::string type = i < num_ids_ ? "VARCHAR" : "FLOAT";
    if (i < id_types.size()) type = id_types[i];
    if (i == num_ids_ && !labels.empty()) type = are_whole ? "BIGINT" : "VARCHAR";
    if (i >= num_ids_ && labels.empty()) type = "DOUBLE";
    if (i > num_ids_ + labels.size() && !labels.empty()) type = "VARCHAR";  // the set
    columns.push_back({names_[i], type});
  }
  return columns;
}

void PredictionText::add_cell(std::string_view text, fmt::memory_buffer& out) const {
  if (needs_csv_quotes(text, delimiter_)) {
    append(csv_cell(text, delimiter_), out);
  } else {
    append(text, out);
  }
}

void PredictionText::add_header(fmt::memory_buffer& out) const {
  for (std::size_t i = 0; i < names_.size(); ++i) {
    if (i > 0) out.push_back(delimiter_);
    add_cell(names_[i], out);
  }
  out.push_back('\n');
}

void PredictionText::add_number(double number, std::size_t target, fmt::memory_buffer& out) const {
  const std::size_t begin = out.size();
  add_with_offset(number, model_.schema.target_scaling.offset_of(target), out);
  if (decimal_ != '.') std::replace(out.begin() + begin, out.end(), '.', decimal_);
}

void PredictionText::add_intervals(std::span<const double> predictions,
                                   fmt::memory_buffer& out) const {
  for (std::size_t i = 0; i < predictions.size(); ++i) {
    const double distance = model_.conformal->bounds[i];
    for (const double end : {predictions[i] - distance, predictions[i] + distance}) {
      out.push_back(delimiter_);
      add_number(end, i, out);
    }
  }
}

void PredictionText::add_set(std::span<const double> probabilities, int64_t predicted,
                             fmt::memory_buffer& out) const {
  const double lowest = lowest_probability(*model_.conformal, probabilities, predicted);
  std::string set;
  for (std::size_t i = 0; i < probabilities.size(); ++i) {
    if (probabilities[i] < lowest) continue;
    if (!set.empty()) set += kSetSeparator;
    set += model_.schema.labels[i];
  }
  out.push_back(delimiter_);
  add_cell(set, out);
}

void PredictionText::add_row(std::span<const double> numbers, int64_t predicted,
                             fmt::memory_buffer& out) const {
  const bool has_classes = !labels_.empty();
  if (has_classes) {
    append(labels_[static_cast<std::size_t>(predicted)], out);
    out.push_back(delimiter_);
  }
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (i > 0) out.push_back(delimiter_);
    add_number(numbers[i], i, out);
  }
  if (!model_.conformal) return;
  if (has_classes) {
    add_set(numbers, predicted, out);
  } else {
    add_intervals(numbers, out);
  }
}

int64_t PredictionText::add_rows(std::span<const float> outputs, std::span<const std::string> ids,
                                 fmt::memory_buffer& out) const {
  const bool has_classes = !labels_.empty();
  const auto num_outputs = static_cast<std::size_t>(model_.num_outputs());
  const std::vector<int64_t> classes =
      has_classes ? metrics::predicted_classes({outputs, model_.num_outputs(), model_.threshold})
                  : std::vector<int64_t>{};
  const std::vector<double> numbers =
      has_classes ? as_doubles(probabilities(model_, outputs)) : predicted_values(model_, outputs);
  const std::size_t width = has_classes ? labels_.size() : num_outputs;
  int64_t num_not_finite = 0;
  for (std::size_t row = 0; row < outputs.size() / num_outputs; ++row) {
    for (std::size_t i = 0; i < num_ids_; ++i) {
      add_cell(ids[row * num_ids_ + i], out);
      out.push_back(delimiter_);
    }
    const std::span<const double> of_row = std::span(numbers).subspan(row * width, width);
    const bool is_finite =
        are_finite(outputs.subspan(row * num_outputs, num_outputs)) && are_finite(of_row);
    if (is_finite) {
      add_row(of_row, has_classes ? classes[row] : 0, out);
    } else {
      ++num_not_finite;
      for (std::size_t i = num_ids_ + 1; i < names_.size(); ++i) out.push_back(delimiter_);
    }
    out.push_back('\n');
  }
  return num_not_finite;
}

void PredictionText::add_empty_row(fmt::memory_buffer& out) const {
  for (std::size_t i = 1; i < names_.size(); ++i) out.push_back(delimiter_);
  out.push_back('\n');
}

namespace {

std::string num_categories_text(std::size_t count) {
  return fmt::format("{} {}", with_thousands(static_cast<int64_t>(count)),
                     count == 1 ? "category" : "categories");
}

}  // namespace

std::string kind_text(data::ColumnKind kind) {
  return kind == data::ColumnKind::kIgnored ? "dropped" : to_text(kind);
}

std::string quoted_list(const std::vector<std::string>& words) {
  constexpr std::size_t kMaxNames = 8;
  std::string text;
  for (std::size_t i = 0; i < words.size() && i < kMaxNames; ++i) {
    text += fmt::format("{}{}", i == 0 ? "" : ", ", in_quotes(words[i]));
  }
  if (words.size() > kMaxNames) {
    text +=
        fmt::format(" and {} more", with_thousands(static_cast<int64_t>(words.size() - kMaxNames)));
  }
  return text;
}

std::string column_text(const data::Column& column) {
  std::string text = kind_text(column.kind);
  switch (column.kind) {
    case data::ColumnKind::kNumeric:
      if (column.offset != 0) {
        text += fmt::format(", minus offset {}", shortest(column.offset));
      }
      text += column.fill ? fmt::format(", missing values filled with {}",
                                        data::text_in_file_units(column, *column.fill))
                          : ", missing values are an error";
      if (column.limits) {
        text += fmt::format(", clipped to {} .. {}",
                            data::text_in_file_units(column, column.limits->low),
                            data::text_in_file_units(column, column.limits->high));
      }
      if (!column.quantiles.empty()) {
        text += column.quantile_score == data::QuantileScore::kRank ? ", quantile rank"
                                                                    : ", normal quantile score";
      }
      break;
    case data::ColumnKind::kCategorical:
      text += fmt::format(", {}: {}", num_categories_text(column.categories.size()),
                          quoted_list(column.categories));
      if (column.embedding_size > 0) {
        text += fmt::format(", embedding of size {}", column.embedding_size);
      }
      if (column.is_sign) return text + ", -1 or 1, 0 where missing";
      break;
    case data::ColumnKind::kId:
      return "row identifier";
    case data::ColumnKind::kIgnored:
      return text + (column.reason.empty() ? "" : ": " + column.reason);
  }
  return column.has_missing_indicator ? text + ", missing indicator" : text;
}

}  // namespace trainer::apply
