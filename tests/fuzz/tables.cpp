// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "trainer/config/data_config.h"
#include "trainer/config/load.h"
#include "trainer/table/dataset.h"
#include "trainer/table/duckdb/query.h"
#include "trainer/table/source/data_file.h"
#include "trainer/table/source/idx.h"
#include "trainer/table/source/inspect.h"
#include "trainer/table/source/npy.h"
#include "trainer/table/source/table_source.h"
#include "trainer/workflows/wizard/first_config.h"
#include "trainer/workflows/wizard/first_config_text.h"

#include "fuzz/input.h"
#include "fuzz/targets.h"
#include "table/source/time_text.h"

namespace trainer::fuzz {
namespace {

namespace fs = std::filesystem;
using config::DataConfig;

DataConfig ways_to_read(Choices& choices) {
  using config::ScalingMethod;
  const auto scaling = [&] {
    return choices.of({ScalingMethod::kStandard, ScalingMethod::kNone, ScalingMethod::kMinMax,
                       ScalingMethod::kRobust, ScalingMethod::kQuantile,
                       ScalingMethod::kQuantileNormal});
  };
  DataConfig data;
  data.cache = "off";
  data.delimiter = choices.of({"auto", "comma", "semicolon", "tab", "|"});
  data.decimal = choices.of({".", ","});
  data.thousands = choices.of({"none", "space", ",", "."});
  data.date_order = choices.of(
      {config::DateOrder::kAuto, config::DateOrder::kDayFirst, config::DateOrder::kMonthFirst});
  data.scaling = scaling();
  data.target_scaling = choices.coin() ? ScalingMethod::kRobust : ScalingMethod::kStandard;
  data.outliers =
      choices.of({config::Outliers::kWarn, config::Outliers::kClip, config::Outliers::kIgnore});
  data.fill = choices.of({config::Imputation::kMean, config::Imputation::kMedian,
                          config::Imputation::kConstant, config::Imputation::kError});
  data.missing_indicator = choices.coin();
  data.drop_rows_without_target = choices.coin();
  data.clip_predictions = choices.coin();
  data.binary = choices.of({config::BinaryEncoding::kOneHot, config::BinaryEncoding::kSign});
  data.embed_above = choices.of({16, 2});
  data.task =
      choices.of({config::Task::kAuto, config::Task::kClassification, config::Task::kRegression});
  data.validation_fraction = choices.of({0.25, 0.0});
  data.test_fraction = 0.25;
  return data;
}

// The roles of columns, by the names that the table has.
void choose_columns(const data::TableFacts& facts, Choices& choices, DataConfig& data) {
  if (facts.columns.empty()) return;
  const auto name = [&] { return facts.columns[choices.below(facts.columns.size())].name; };
  data.target = {name()};
  if (choices.below(4) == 1) data.target.push_back(name());
  switch (choices.below(8)) {
    case 1:
      data.time = name();
      data.split = config::SplitMethod::kChronological;
      break;
    case 2:
      data.group = name();
      break;
    case 3:
      data.weight = name();
      break;
    case 4:
      data.split_column = name();
      break;
    case 5:
      data.id = {name()};
      break;
    case 6:
      data.categorical = {name()};
      break;
    case 7:
      data.numeric = {name()};
      break;
    default:
      break;
  }
}

// What `trainer init` writes means what it has decided.
void make_config(const data::TableFacts& facts, const DataConfig& data, const std::string& path) {
  wizard::FirstConfig first = wizard::make_first_config(facts, data.target.front());
  first.config.data.path = path;
  const data::Datasets datasets = data::load_datasets(first.config.data, /*seed=*/1);
  wizard::add_left_out(first, datasets.schema);
  const std::string text =
      wizard::first_config_text(first, facts, datasets.schema, "first.yaml", path);
  const config::Loaded loaded = config::load({{"first.yaml", text, folder().path()}}, {});
  first.config.output_dir = loaded.config.output_dir;  // from the current folder on
  require_same(first.config, loaded.config);
}

// As `trainer init` and training read the file.
void read_file(const fs::path& path, Choices& choices) {
  DataConfig data = ways_to_read(choices);
  data.source = config::Source::kCsv;
  data.path = path.string();
  data.target = {"y"};
  std::optional<data::TableFacts> facts;
  read_or_refuse([&] {
    facts =
        data::inspect_table({data.path}, {data.delimiter, choices.coin() ? "auto" : data.decimal});
    data::column_names({data.path});
  });
  if (facts) choose_columns(*facts, choices, data);
  if (facts && choices.coin()) read_or_refuse([&] { make_config(*facts, data, data.path); });
  read_or_refuse([&] {
    const data::Datasets datasets = data::load_datasets(data, /*seed=*/1);
    const data::Datasets again = data::load_datasets(data, /*seed=*/1, &datasets.schema);
    require(again.schema == datasets.schema, "read again, the table is another one");
  });
}

std::string type_of(Choices& choices) {
  return choices.of({"VARCHAR",
                     "DOUBLE",
                     "FLOAT",
                     "TINYINT",
                     "BIGINT",
                     "UBIGINT",
                     "HUGEINT",
                     "DECIMAL(38,10)",
                     "DECIMAL(4,1)",
                     "BOOLEAN",
                     "DATE",
                     "TIME",
                     "TIMESTAMP",
                     "TIMESTAMP_NS",
                     "TIMESTAMPTZ",
                     "INTERVAL",
                     "UUID",
                     "BLOB",
                     "BIT",
                     "VARCHAR[]",
                     "INTEGER[2]",
                     "STRUCT(a INTEGER)",
                     "MAP(VARCHAR, INTEGER)",
                     "ENUM('a', 'b', '1')"});
}

// A column of each type that is chosen, of texts between commas.
std::string query_of(std::string_view bytes, Choices& choices) {
  constexpr std::size_t kColumns = 4;
  std::string columns;
  for (std::size_t column = 0; column < kColumns; ++column) {
    columns +=
        fmt::format("{}TRY_CAST(c{} AS {}) AS {}", column == 0 ? "" : ", ", column,
                    type_of(choices), column + 1 == kColumns ? "y" : fmt::format("x{}", column));
  }
  std::string rows;
  for (const std::string& line : parts_of(bytes, '\n')) {
    std::vector<std::string> cells = parts_of(line, ',');
    cells.resize(kColumns);
    rows += rows.empty() ? "(" : ", (";
    for (std::size_t column = 0; column < kColumns; ++column) {
      const bool is_null = cells[column].empty();
      rows += (column == 0 ? "" : ", ") + (is_null ? "NULL" : duckdb::quoted_text(cells[column]));
    }
    rows += ")";
  }
  return fmt::format("SELECT {} FROM (VALUES {}) AS t(c0, c1, c2, c3)", columns, rows);
}

}  // namespace

void fuzz_csv(std::string_view bytes) {
  Choices choices(bytes);
  read_file(folder().write("t.csv", bytes), choices);
}

void fuzz_sqlite(std::string_view bytes) {
  Choices choices(bytes);
  read_file(folder().write("t.sqlite", bytes), choices);
}

void fuzz_duckdb(std::string_view bytes) {
  std::string reason;
  if (!duckdb::is_available(reason)) return;
  Choices choices(bytes);
  if (choices.coin()) return read_file(folder().write("t.json", bytes), choices);
  DataConfig data;
  data.source = config::Source::kQuery;
  data.query = query_of(bytes, choices);
  data.target = {"y"};
  data.cache = "off";
  read_or_refuse([&] { data::inspect_table(data::training_source(data)); });
  read_or_refuse([&] { data::load_datasets(data, /*seed=*/1); });
}

void fuzz_packed(std::string_view bytes) {
  constexpr std::size_t kMaxUnpacked = std::size_t{1} << 22U;  // a small file can have any size
  read_or_refuse([&] {
    data::DataFile file(folder().write("t.csv.gz", bytes));
    std::array<std::byte, 1000> buffer;
    for (std::size_t size = 0; size < kMaxUnpacked;) {
      const std::size_t count = file.read(buffer);
      if (count == 0) break;
      size += count;
      file.content_size_hint();
    }
    file.fingerprint();
  });
}

void fuzz_npy(std::string_view bytes) {
  const fs::path path = folder().write("t.npy", bytes);
  read_or_refuse([&] { data::read_npy(path); });
  read_or_refuse([&] { data::read_npy_features(path); });
  DataConfig data;
  data.source = config::Source::kNpy;
  data.npy.features = data.npy.targets = path.string();
  read_or_refuse([&] { data::load_datasets(data, /*seed=*/1); });
}

void fuzz_idx(std::string_view bytes) {
  const fs::path path = folder().write("t.idx", bytes);
  read_or_refuse([&] { data::read_idx(path); });
  DataConfig data;
  data.source = config::Source::kIdx;
  data.idx.train_images = data.idx.train_labels = path.string();
  read_or_refuse([&] { data::load_datasets(data, /*seed=*/1); });
}

void fuzz_dates(std::string_view bytes) {
  data::DateOrders orders;
  for (const std::string& text : parts_of(bytes, '\n')) {
    orders.add(text);
    for (const config::DateOrder order :
         {config::DateOrder::kYearFirst, config::DateOrder::kDayFirst,
          config::DateOrder::kMonthFirst}) {
      const std::optional<data::Time> time = data::parse_time(text, order);
      if (!time || time->kind != data::TimeKind::kDate) continue;
      for (const config::DatePart part :
           {config::DatePart::kYear, config::DatePart::kMonth, config::DatePart::kDayOfWeek,
            config::DatePart::kHour, config::DatePart::kSeconds}) {
        require(std::isfinite(data::part_of(time->value, part)), "a part of a date is no number");
      }
      const std::optional<data::Time> again = data::parse_time(data::date_text(time->value));
      const double year = data::part_of(time->value, config::DatePart::kYear);
      const bool has_four_digits = year >= 0 && year <= 9999;
      require(!has_four_digits || (again && again->value == std::floor(time->value)),
              "a date is written as another one");
    }
  }
  orders.order();
  orders.num_dates();
}

}  // namespace trainer::fuzz
