// SPDX-License-Identifier: Apache-2.0
#include "trainer/apply/column_text.h"

#include <cstddef>
#include <cstdint>

#include <fmt/format.h>

#include "trainer/base/text/format.h"

namespace trainer::apply {
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
