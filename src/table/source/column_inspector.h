// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "trainer/table/source/csv_format.h"
#include "trainer/table/source/inspect.h"

#include "table/source/time_text.h"

namespace trainer::data {

/// How many numbers of a table can only be read with one of the decimal marks.
struct DecimalMarks {
  int64_t num_commas = 0;
  int64_t num_points = 0;
};

/// Collects the facts of one column, cell by cell.
class ColumnInspector {
 public:
  explicit ColumnInspector(std::string name) { facts_.name = std::move(name); }

  /// Counts a cell in the row that begins at `line`.
  void add(std::string_view field, int64_t line, const CsvFormat& format, DecimalMarks& marks);

  /// A mark between thousands with which all values are numbers, some of which need it; else NUL.
  char thousands(const CsvFormat& format) const;

  /// What is known; the last call.
  ColumnFacts take();

 private:
  struct Label {
    size_t index;
    int64_t count;
  };

  /// Numbers that need a mark between thousands.
  struct Grouped {
    char mark = '\0';
    int64_t count = 0;
    int64_t num_sure = 0;  // that cannot be meant otherwise: 1,325.26
  };

  /// Different texts with their counts, none if they are many.
  struct OddTexts {
    std::vector<std::pair<std::string, int64_t>> texts = {};
    bool are_many = false;
  };

  void add_number(double number);
  void add_text(std::string_view field, int64_t line, const CsvFormat& format, DecimalMarks& marks);
  void add_grouped(std::string_view field, const CsvFormat& format);
  static void add_odd(std::string_view field, OddTexts& odd);
  void count_different(std::string_view field);

  ColumnFacts facts_;
  double last_ = 0;
  DateOrders dates_;
  std::array<Grouped, 3> grouped_;
  bool has_one_unit_ = true;
  bool is_first_expected_ = false;  // first_non_number is a date or has a unit
  OddTexts odd_texts_;
  OddTexts odd_dates_;
  std::unordered_set<size_t> different_;
  std::unordered_map<std::string, Label> labels_;
};

}  // namespace trainer::data
