// SPDX-License-Identifier: Apache-2.0
#include "trainer/apply/explain/explained_rows.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>

#include "trainer/base/philox.h"

namespace trainer::explain {
namespace {

/// Copies the `width` values of row `row` of `from` to row `to` of `all`, or appends them if `all`
/// ends there.
template <class Value>
void put(const Array<Value>& from, int64_t row, int64_t width, Array<Value>& all, int64_t to) {
  if (from.empty()) return;
  const auto begin = from.begin() + row * width;
  if (std::ssize(all) == to * width) {
    all.append(begin, begin + width);
  } else {
    std::copy_n(begin, width, all.begin() + to * width);
  }
}

/// Keeps a random sample of the rows that are added.
class Reservoir {
 public:
  explicit Reservoir(const RowLimit& limit)
      : max_rows_(limit.max_rows), random_(limit.seed, StreamId::kRowSample) {}

  void add(const data::Dataset& rows) {
    for (int64_t row = 0; row < rows.size(); ++row) {
      if (const std::optional<int64_t> place = next_place()) put_row(rows, row, *place);
    }
  }

  data::Dataset take() && { return std::move(kept_); }
  int64_t num_seen() const { return num_seen_; }

 private:
  std::optional<int64_t> next_place() {
    const int64_t row = num_seen_++;
    if (row < max_rows_) return row;
    const auto place = static_cast<int64_t>(random_.below(static_cast<uint64_t>(row) + 1));
    return place < max_rows_ ? std::optional(place) : std::nullopt;
  }

  void put_row(const data::Dataset& rows, int64_t row, int64_t place) {
    if (kept_.size() == 0) {
      kept_.features.num_columns = rows.features.num_columns;
      if (std::holds_alternative<Array<uint8_t>>(rows.features.values)) {
        kept_.features.values = Array<uint8_t>();
      }
    }
    std::visit(
        [&](const auto& values) {
          using Values = std::decay_t<decltype(values)>;
          put(values, row, rows.features.num_columns, std::get<Values>(kept_.features.values),
              place);
        },
        rows.features.values);
    put(rows.classes, row, 1, kept_.classes, place);
    put(rows.values, row, std::ssize(rows.values) / rows.size(), kept_.values, place);
    put(rows.source_lines, row, 1, kept_.source_lines, place);
    put(rows.weights, row, 1, kept_.weights, place);
    put(rows.targets, row, std::ssize(rows.targets) / rows.size(), kept_.targets, place);
    kept_.features.num_rows = std::max(kept_.features.num_rows, place + 1);
  }

  int64_t max_rows_;
  int64_t num_seen_ = 0;
  PhiloxStream random_;
  data::Dataset kept_;
};

}  // namespace

ExplainedRows choose_rows(const apply::SplitRows& rows, const RowLimit& limit) {
  Reservoir reservoir(limit);
  reservoir.add(rows.rows);
  return {.split = rows.split,
          .schema = rows.schema,
          .rows = std::move(reservoir).take(),
          .num_available = rows.rows.size()};
}

ExplainedRows read_rows(const apply::Model& model, const apply::LabelledFile& file,
                        const RowLimit& limit) {
  Reservoir reservoir(limit);
  ExplainedRows explained{.schema = model.schema, .rows = {}};
  explained.notes =
      apply::read_labelled(model, file, [&](const data::Dataset& rows) { reservoir.add(rows); });
  explained.num_available = reservoir.num_seen();
  explained.rows = std::move(reservoir).take();
  return explained;
}

}  // namespace trainer::explain
