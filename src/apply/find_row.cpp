// SPDX-License-Identifier: Apache-2.0
#include "trainer/apply/find_row.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "trainer/apply/labelled_rows.h"
#include "trainer/base/error.h"
#include "trainer/base/text/format.h"
#include "trainer/config/config.h"  // IWYU pragma: keep
#include "trainer/table/row_checks.h"
#include "trainer/table/source/npy.h"

#include "apply/rows.h"

namespace trainer::apply {
namespace {

constexpr int64_t kRowsAtOnce = 4096;

/// Searches batches of rows for the row with a line or number.
class RowSearch {
 public:
  RowSearch(std::string file, bool has_lines, int64_t number)
      : file_(std::move(file)), what_(has_lines ? "line" : "row"), number_(number) {}

  std::optional<FoundRow> look(const data::Matrix& features, const Array<int64_t>& numbers) {
    for (const int64_t number : numbers) {
      first_ = std::min(first_, number);
      last_ = std::max(last_, number);
    }
    const auto found = std::find(numbers.begin(), numbers.end(), number_);
    if (found == numbers.end()) return std::nullopt;
    const std::array<int64_t, 1> row = {found - numbers.begin()};
    return FoundRow{fmt::format("{} {} of {}", what_, with_thousands(number_), file_),
                    data::take_rows(features, row)};
  }

  [[noreturn]] void fail() const {
    const bool is_line = what_ == "line";
    throw Error(ErrorKind::kUsage,
                fmt::format("--row: expected {} of {}{}, from {} to {}, got {}",
                            is_line ? "a line" : "the number of a row", file_,
                            is_line ? " at which a row begins" : "", with_thousands(first_),
                            with_thousands(last_), with_thousands(number_)));
  }

 private:
  std::string file_;
  std::string what_;
  int64_t number_;
  int64_t first_ = std::numeric_limits<int64_t>::max();
  int64_t last_ = 0;
};

/// The name of the run's own data in messages: "penguins.csv"; only tables have a name.
std::string own_name(const config::DataConfig& data) {
  if (!config::is_table(data.source)) return "the data of the run";
  const std::string name = data::source_name(data::training_source(data));
  return data.path.empty() ? name : std::filesystem::path(name).filename().string();
}

}  // namespace

FoundRow find_row(const Model& model, const data::TableSource& source, int64_t number) {
  const bool has_lines = data::is_one_text(source) && !data::is_npy(source.path) &&
                         (!model.schema.columns.empty() || !is_idx(source.path));
  RowSearch search(data::source_name(source), has_lines, number);
  const std::unique_ptr<RowSource> rows = open_rows(model, {.data = source});
  for (Rows piece; rows->next(kRowsAtOnce, piece);) {
    if (auto found = search.look(piece.features, piece.lines)) {
      found->cells = source_cells(model, source, {&number, 1});
      return std::move(*found);
    }
  }
  search.fail();
}

FoundRow find_own_row(const Model& model, int64_t number) {
  const config::DataConfig& data = model.config().data;
  RowSearch search(own_name(data), data::has_lines(data), number);
  const data::Datasets datasets = own_datasets(model);
  for (const auto& [split, rows] :
       {std::pair("test", &datasets.test), std::pair("validation", &datasets.validation),
        std::pair("training", &datasets.train)}) {
    if (auto found = search.look(rows->features, rows->source_lines)) {
      data::require_intact(*rows);
      found->name += fmt::format(" ({} split)", split);
      found->cells = own_cells(model, split, {&number, 1});
      return std::move(*found);
    }
  }
  search.fail();
}

}  // namespace trainer::apply
