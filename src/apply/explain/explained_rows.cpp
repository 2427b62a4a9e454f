// SPDX-License-Identifier: Apache-2.0
#include "trainer/apply/explain/explained_rows.h"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "trainer/base/philox.h"
#include "trainer/base/text/enum_names.h"
#include "trainer/table/schema/encode.h"

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

  void add(const data::Dataset& rows, const Array<int32_t>& fold_of_row = {}) {
    for (int64_t row = 0; row < rows.size(); ++row) {
      const std::optional<int64_t> place = next_place();
      if (!place) continue;
      put_row(rows, row, *place);
      put(fold_of_row, row, 1, fold_of_row_, *place);
    }
  }

  data::Dataset take_rows() { return std::move(kept_); }
  Array<int32_t> take_folds() { return std::move(fold_of_row_); }
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
  Array<int32_t> fold_of_row_;
};

}  // namespace

ExplainedRows choose_rows(const apply::SplitRows& rows, const RowLimit& limit) {
  Reservoir reservoir(limit);
  reservoir.add(rows.rows, rows.fold_of_row);
  return {.split = rows.split,
          .schema = rows.schema,
          .rows = reservoir.take_rows(),
          .fold_of_row = reservoir.take_folds(),
          .num_available = rows.rows.size()};
}

ExplainedRows read_rows(const apply::Model& model, const apply::LabelledFile& file,
                        const RowLimit& limit) {
  Reservoir reservoir(limit);
  ExplainedRows explained{.schema = model.schema, .rows = {}};
  explained.notes =
      apply::read_labelled(model, file, [&](const data::Dataset& rows) { reservoir.add(rows); });
  explained.num_available = reservoir.num_seen();
  explained.rows = reservoir.take_rows();
  return explained;
}

namespace {

constexpr int64_t kMaxSingle = 100;     // with more features, groups have several of them
constexpr int64_t kSquaresPerSide = 8;  // squares along the longer side of an image, at most
constexpr int64_t kMaxBlocks = kSquaresPerSide * kSquaresPerSide;

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

std::vector<ColumnGroup> groups_of_columns(const std::vector<data::Column>& columns) {
  std::vector<ColumnGroup> groups;
  const std::vector<int64_t> first = data::first_features(columns);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (!data::is_feature(columns[i])) continue;
    const std::string& name = data::source_of(columns[i]);
    ColumnGroup* group = find_by_name(groups, name);
    if (group == nullptr) group = &groups.emplace_back(ColumnGroup{name, {}, {}});
    group->parts.push_back({columns[i], first[i], data::num_features(columns[i])});
    for (int64_t k = 0; k < group->parts.back().num_features; ++k) {
      group->features.push_back(first[i] + k);
    }
  }
  return groups;
}

std::vector<ColumnGroup> groups_of_features(const data::Schema& schema) {
  std::vector<ColumnGroup> groups;
  for (std::size_t i = 0; i < schema.feature_names.size(); ++i) {
    const auto feature = static_cast<int64_t>(i);
    const data::Column column{.name = schema.feature_names[i],
                              .offset = schema.scaling.offset_of(i)};
    groups.push_back({column.name, {{column, feature, 1}}, {feature}});
  }
  return groups;
}

struct ImageSize {
  int64_t height = 0;
  int64_t width = 0;
};

/// The size of images, from the name of their last pixel, such as pixel_27_27; nothing if the
/// features are not pixels.
std::optional<ImageSize> image_size(const std::vector<std::string>& names) {
  int row = 0;
  int column = 0;
  if (std::sscanf(names.back().c_str(), "pixel_%d_%d", &row, &column) != 2) return std::nullopt;
  const ImageSize size{row + 1, column + 1};
  if (size.height * size.width != std::ssize(names)) return std::nullopt;
  return size;
}

std::string range_text(int64_t begin, int64_t end) {
  return end - begin == 1 ? fmt::format("{}", begin) : fmt::format("{} to {}", begin, end - 1);
}

std::vector<ColumnGroup> squares(const ImageSize& image) {
  const int64_t side = ceil_div(std::max(image.height, image.width), kSquaresPerSide);
  std::vector<ColumnGroup> groups;
  for (int64_t top = 0; top < image.height; top += side) {
    for (int64_t left = 0; left < image.width; left += side) {
      const int64_t bottom = std::min(top + side, image.height);
      const int64_t right = std::min(left + side, image.width);
      ColumnGroup& group = groups.emplace_back();
      group.name = fmt::format("pixels in rows {}, columns {}", range_text(top, bottom),
                               range_text(left, right));
      for (int64_t row = top; row < bottom; ++row) {
        for (int64_t column = left; column < right; ++column) {
          group.features.push_back(row * image.width + column);
        }
      }
    }
  }
  return groups;
}

std::vector<ColumnGroup> blocks(const std::vector<std::string>& names) {
  const auto count = static_cast<int64_t>(names.size());
  const int64_t size = ceil_div(count, kMaxBlocks);
  std::vector<ColumnGroup> groups;
  for (int64_t begin = 0; begin < count; begin += size) {
    const int64_t end = std::min(begin + size, count);
    ColumnGroup& group = groups.emplace_back();
    group.name = fmt::format("{} to {}", names[static_cast<std::size_t>(begin)],
                             names[static_cast<std::size_t>(end - 1)]);
    for (int64_t feature = begin; feature < end; ++feature) group.features.push_back(feature);
  }
  return groups;
}

std::string part_text(const ColumnPart& part, std::span<const float> features) {
  return data::decoded_text(part.column,
                            features.subspan(static_cast<std::size_t>(part.first_feature),
                                             static_cast<std::size_t>(part.num_features)));
}

}  // namespace

std::vector<ColumnGroup> column_groups(const data::Schema& schema) {
  if (!schema.columns.empty()) return groups_of_columns(schema.columns);
  if (schema.num_features() <= kMaxSingle) return groups_of_features(schema);
  const std::optional<ImageSize> image = image_size(schema.feature_names);
  return image ? squares(*image) : blocks(schema.feature_names);
}

std::vector<std::size_t> group_of_features(std::span<const ColumnGroup> groups,
                                           int64_t num_features) {
  std::vector<std::size_t> group_of(static_cast<std::size_t>(num_features));
  for (std::size_t i = 0; i < groups.size(); ++i) {
    for (const int64_t feature : groups[i].features) {
      group_of[static_cast<std::size_t>(feature)] = i;
    }
  }
  return group_of;
}

std::string cell_text(const ColumnGroup& group, std::span<const float> features) {
  std::string text;
  for (const ColumnPart& part : group.parts) {
    const std::string cell = part_text(part, features);
    if (part.column.source.empty()) return cell;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", to_text(part.column.date_part), cell);
  }
  return text;
}

std::optional<std::size_t> find_group(std::span<const ColumnGroup> groups,
                                      const std::string& name) {
  const ColumnGroup* found = find_by_name(groups, name);
  if (found == nullptr) return std::nullopt;
  return static_cast<std::size_t>(found - groups.data());
}

data::Matrix as_floats(const data::Matrix& matrix) {
  data::Matrix floats{matrix.num_rows, matrix.num_columns, {}};
  floats.values = std::visit(
      [](const auto& values) { return Array<float>(values.begin(), values.end()); }, matrix.values);
  return floats;
}

}  // namespace trainer::explain
