// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "trainer/base/memory/array.h"
#include "trainer/table/source/string_interner.h"

namespace trainer::data {

/// The target cells of a table, `[num_rows, num_targets]`, as numbers and as they are written. If
/// more than kMaxLabels differ and all of them are numbers, these are no labels: only the numbers
/// are kept from then on, unless labels are expected.
class TargetCells {
 public:
  static constexpr size_t kMaxLabels = 1000;
  enum class Written { kWhole, kFloating };

  TargetCells() = default;
  TargetCells(std::initializer_list<std::string_view> texts);

  size_t size() const { return has_labels_ ? codes_.size() : numbers_.size(); }
  bool empty() const { return size() == 0; }
  /// Keeps how cells are written, however many differ.
  void expect_labels();
  /// Drops all cells and labels, and keeps their memory.
  void clear();
  /// Makes room for so many cells in all.
  void reserve(size_t size);
  /// New cells are to be set; those from `size` on are dropped.
  void resize(size_t size);
  /// Sets a cell to what is written there.
  void set(size_t cell, std::string_view text);
  /// Sets a cell to a finite number, written as 3 or as 3.0 if it is whole.
  void set(size_t cell, double number, Written written);
  /// Does what set() does and returns true if the text is a label that came lately; quicker.
  bool set_recent(size_t cell, std::string_view text);
  /// Appends a cell.
  void push_back(std::string_view text);

  /// The cell as a number; NaN if it is none.
  double number(size_t cell) const {
    return has_labels_ ? label_numbers_[label(cell)] : numbers_[cell];
  }
  /// The cell as it is written, or where that is not known, the shortest text of its number.
  std::string text(size_t cell) const;

  /// Whether it is known how all cells are written.
  bool has_labels() const { return has_labels_; }
  /// The different texts, in the order in which they were set first. Cells may have been dropped
  /// since.
  const std::vector<std::string>& labels() const { return labels_; }
  /// The index in labels() of the cell's text; if has_labels().
  size_t label(size_t cell) const { return static_cast<size_t>(codes_[cell]); }

  /// Cell by cell, as they are written.
  bool operator==(const TargetCells& other) const;

 private:
  int32_t set_label(size_t cell, std::string_view text);
  void forget_labels();

  size_t max_labels_ = kMaxLabels;
  size_t reserved_ = 0;
  bool has_labels_ = true;
  bool are_numbers_ = true;  // so far
  Array<int32_t> codes_;     // with labels
  Array<double> numbers_;    // without
  std::vector<std::string> labels_;
  std::vector<double> label_numbers_;  // [labels]
  StringInterner codes_of_texts_;
  std::unordered_map<double, int32_t> codes_of_numbers_;  // that came as numbers
  std::map<size_t, std::string> odd_;  // the first cells that are no numbers, without labels
};

}  // namespace trainer::data
