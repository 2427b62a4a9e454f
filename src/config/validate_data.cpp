// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <initializer_list>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "trainer/base/text/format.h"
#include "trainer/config/fields.h"

#include "config/conflicts.h"

namespace trainer::config {

namespace {

// Keys that have no effect unless the data are a table.
constexpr std::array kTableKeys = {"data.target",
                                   "data.delimiter",
                                   "data.decimal",
                                   "data.thousands",
                                   "data.missing",
                                   "data.drop_rows_without_target",
                                   "data.ignore",
                                   "data.id",
                                   "data.numeric",
                                   "data.categorical",
                                   "data.max_categories",
                                   "data.cache",
                                   "data.dates",
                                   "data.date_order",
                                   "data.binary",
                                   "data.scale_categories",
                                   "data.embed_above",
                                   "data.embedding_size",
                                   "data.unknown_category",
                                   "data.fill",
                                   "data.fill_value",
                                   "data.missing_indicator",
                                   "data.weight",
                                   "data.outliers",
                                   "data.validation_path",
                                   "data.test_path",
                                   "data.split_column",
                                   "data.group",
                                   "data.split",
                                   "data.time"};

}  // namespace

// A file that is named but not used would mean that the run is on other data than the user
// believes.
void Conflicts::check_source() {
  const auto& data = config_.data;
  for (const char* key : kTableKeys) {
    if (is_changed(key) && !is_table(data.source)) {
      report(key, "has no effect unless data.source is csv or query; set data.source: csv",
             to({"data.source"}, key));
    }
  }
  for (const auto& [key, source] :
       {std::pair("data.path", Source::kCsv), std::pair("data.query", Source::kQuery),
        std::pair("data.query_folder", Source::kQuery),
        std::pair("data.query_files", Source::kQuery)}) {
    if (!is_changed(key) || data.source == source) continue;
    report(key,
           fmt::format("has no effect unless data.source is {}; set data.source: {}",
                       to_text(source), to_text(source)),
           either(key, "data.source"));
  }
  if (is_by_quantiles(data.scaling) && !is_table(data.source)) {
    report("data.scaling",
           fmt::format("quantile scaling is only supported for tables, not "
                       "for data.source: {}; use robust",
                       value_text("data.source", config_)),
           to({"data.source"}, "data.scaling"));
  }
  const auto need_source = [&](const std::string& name, Source source,
                               std::initializer_list<const char*> keys) {
    for (const char* last : keys) {
      const std::string key = fmt::format("data.{}.{}", name, last);
      if (!is_changed(key) || data.source == source) continue;
      report(key,
             fmt::format("has no effect unless data.source is {}; set data.source: {}", name, name),
             either(key, "data.source"));
    }
  };
  need_source("idx", Source::kIdx, {"train_images", "train_labels", "test_images", "test_labels"});
  need_source("npy", Source::kNpy, {"features", "targets", "test_features", "test_targets"});
}

void Conflicts::require(const std::string& key, const std::string& value,
                        const std::string& source) {
  if (value.empty()) {
    report(key, fmt::format("expected a value because data.source is {}, got nothing", source));
  }
}

void Conflicts::check_table() {
  const Source source = config_.data.source;
  if (!is_table(source)) return;
  if (source == Source::kCsv) require("data.path", config_.data.path, "csv");
  if (source == Source::kQuery) require("data.query", config_.data.query, "query");
  require("data.target", fmt::format("{}", fmt::join(config_.data.target, "")), to_text(source));
  check_targets();
  const std::string& delimiter = config_.data.delimiter;
  if (config_.data.decimal == "," && (delimiter == "comma" || delimiter == ",")) {
    report("data.decimal",
           "conflicts with data.delimiter, which is also a comma; change one of them",
           either("data.decimal", "data.delimiter"));
  }
  if (config_.data.decimal == config_.data.thousands) {
    report("data.thousands",
           "conflicts with data.decimal, which is the same mark; change one of them");
  }
  if (is_changed("data.fill_value") && config_.data.fill != Imputation::kConstant) {
    report("data.fill_value", "has no effect unless data.fill is constant",
           to({"data.fill"}, "data.fill_value"));
  }
  if (source == Source::kQuery && is_changed("data.cache")) {
    report("data.cache",
           "has no effect on a query, as nothing tells whether its tables changed; "
           "write its result to a Parquet file and set data.path",
           to({"data.source", "data.query"}, "data.cache"));
  }
  check_dates();
  check_parts();
}

void Conflicts::check_dates() {
  const std::vector<std::string>& dates = config_.data.dates;
  const bool is_word = dates.size() == 1 && (dates[0] == "auto" || dates[0] == "off");
  if (is_word) return;
  const auto bad = std::find_if(dates.begin(), dates.end(), [](const std::string& name) {
    return !from_text<DatePart>(name).has_value();
  });
  if (bad == dates.end() && !dates.empty()) return;
  report("data.dates",
         fmt::format("expected auto, off, or a list of {}, got {}", joined(enum_names<DatePart>()),
                     dates.empty() ? std::string("an empty list") : in_quotes(*bad)));
}

void Conflicts::check_targets() {
  const std::vector<std::string>& targets = config_.data.target;
  for (auto name = targets.begin(); name != targets.end(); ++name) {
    if (std::find(targets.begin(), name, *name) == name) continue;
    report("data.target", fmt::format("duplicate entry {}; remove one", in_quotes(*name)));
  }
  if (targets.size() > 1 && config_.data.task == Task::kClassification) {
    report("data.target", fmt::format("expected one column for data.task: classification, got "
                                      "{}; only regression supports several targets",
                                      targets.size()));
  }
}

// If two keys divide the rows in different ways, one of them would be ignored.
void Conflicts::check_parts() {
  const DataConfig& data = config_.data;
  const auto exclude = [&](const char* key, const char* other) {
    if (is_written(key) && is_written(other) && value_text(key, config_) != "0") {
      report(key,
             fmt::format("conflicts with {}, which already determines it; {}", other, remove(key)),
             either(key, other));
    }
  };
  exclude("data.validation_fraction", "data.validation_path");
  exclude("data.test_fraction", "data.test_path");
  check_time();
  if (data.split_column.empty()) return;
  for (const char* key : {"data.validation_fraction", "data.test_fraction", "data.group",
                          "data.validation_path", "data.test_path"}) {
    exclude(key, "data.split_column");
  }
}

void Conflicts::check_time() {
  const DataConfig& data = config_.data;
  if (data.split != SplitMethod::kChronological) {
    if (!data.time.empty()) {
      report("data.time", "has no effect unless data.split is chronological",
             to({"data.split"}, "data.time"));
    }
    return;
  }
  if (data.time.empty()) {
    report("data.time", "expected a column because data.split is chronological, got nothing");
  }
  for (const char* key : {"data.group", "data.split_column"}) {
    if (!is_changed(key)) continue;
    report(
        "data.split",
        fmt::format("chronological conflicts with {}, which also splits the rows; remove one", key),
        either("data.split", key));
  }
  if (data.repeat > 1) {
    report("data.repeat",
           "conflicts with data.split: chronological, which has only one possible split",
           either("data.repeat", "data.split"));
  }
}

void Conflicts::check_folds() {
  const DataConfig& data = config_.data;
  if (data.folds == 1) {
    report("data.folds", "expected at least 2 folds, or 0 for none, got 1");
  } else if (data.fold > std::max<int64_t>(1, data.folds)) {
    report("data.fold", data.folds == 0 ? "has no effect unless data.folds is set"
                                        : fmt::format("expected at most data.folds ({}), got {}",
                                                      data.folds, data.fold));
  }
  if (data.folds == 0 && data.repeat > 1) {
    report("data.repeat", "has no effect unless data.folds is set");
  }
  check_validation_folds();
  if (data.folds == 0) return;
  for (const char* key : {"data.test_path", "data.split_column", "data.idx.test_images"}) {
    if (!is_written(key)) continue;
    report("data.folds",
           fmt::format("conflicts with {}, which provides the test split; {}", key, remove(key)),
           to({key}, "data.folds"));
  }
}

void Conflicts::check_validation_folds() {
  const DataConfig& data = config_.data;
  if (data.validation_folds == 1) {
    report("data.validation_folds", "expected at least 2 folds, or 0 for none, got 1");
  } else if (data.validation_fold > std::max<int64_t>(1, data.validation_folds)) {
    report("data.validation_fold",
           data.validation_folds == 0
               ? "has no effect unless data.validation_folds is set"
               : fmt::format("expected at most data.validation_folds ({}), got {}",
                             data.validation_folds, data.validation_fold));
  }
  if (data.validation_folds == 0) return;
  for (const char* key : {"data.validation_path", "data.split_column", "data.time"}) {
    if (!is_written(key)) continue;
    report(
        "data.validation_folds",
        fmt::format("conflicts with {}, which provides the validation split; {}", key, remove(key)),
        to({key}, "data.validation_folds"));
  }
}

void Conflicts::check_idx() {
  if (config_.data.source != Source::kIdx) return;
  const IdxConfig& idx = config_.data.idx;
  require("data.idx.train_images", idx.train_images, "idx");
  require("data.idx.train_labels", idx.train_labels, "idx");
  check_test_pair("data.idx.test_images", idx.test_images, "data.idx.test_labels", idx.test_labels);
}

void Conflicts::check_npy() {
  if (config_.data.source != Source::kNpy) return;
  const NpyConfig& npy = config_.data.npy;
  require("data.npy.features", npy.features, "npy");
  require("data.npy.targets", npy.targets, "npy");
  check_test_pair("data.npy.test_features", npy.test_features, "data.npy.test_targets",
                  npy.test_targets);
}

void Conflicts::check_test_pair(const std::string& key, const std::string& features,
                                const std::string& target_key, const std::string& targets) {
  if (features.empty() != targets.empty()) {
    report(features.empty() ? key : target_key,
           fmt::format("expected a file because {} is set, got nothing",
                       features.empty() ? target_key : key));
  }
  if (!features.empty() && is_written("data.test_fraction") && config_.data.test_fraction > 0) {
    report("data.test_fraction",
           fmt::format("conflicts with {}, which provides the test split; {}", key,
                       remove("data.test_fraction")),
           either("data.test_fraction", key));
  }
}

void Conflicts::check_split() {
  const DataConfig& data = config_.data;
  const bool has_other =
      !data.validation_path.empty() || !data.split_column.empty() || data.validation_folds > 0;
  if (data.validation_fraction + data.test_fraction >= 1) {
    report("data.test_fraction",
           fmt::format("expected validation_fraction + test_fraction < 1, got {:g}",
                       data.validation_fraction + data.test_fraction));
  }
  if (config_.training.early_stopping.patience > 0 && data.validation_fraction == 0 && !has_other) {
    report("training.early_stopping.patience",
           "requires a validation split; set data.validation_fraction above 0");
  }
}

}  // namespace trainer::config
