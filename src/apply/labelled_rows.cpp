// SPDX-License-Identifier: Apache-2.0
#include "trainer/apply/labelled_rows.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "trainer/base/error.h"
#include "trainer/base/parallel/parallel.h"
#include "trainer/base/text/format.h"
#include "trainer/config/config.h"  // IWYU pragma: keep
#include "trainer/table/cached/load.h"
#include "trainer/table/row_checks.h"
#include "trainer/table/schema/column_notes.h"
#include "trainer/table/schema/encode.h"
#include "trainer/table/source/data_file.h"
#include "trainer/table/source/idx.h"
#include "trainer/table/source/npy.h"
#include "trainer/table/source/table_reader.h"

#include "apply/rows.h"

namespace trainer::apply {
namespace {

constexpr int64_t kBatchSize = 4096;

/// A batch of rows on its way through the pipeline.
struct LabelledBatch {
  data::TablePiece piece;
  data::Dataset rows;
  std::vector<int64_t> num_unknown;  // [columns]
};

/// Throws unless IDX images and NumPy arrays have a file of targets, and tables have none.
void require_right_files(const Model& model, const LabelledFile& file) {
  const std::string name = data::source_name(file.data);
  const bool is_array = data::is_npy(file.data.path) || is_idx(file.data.path);
  if (!file.targets.empty() && (!model.schema.columns.empty() || !is_array)) {
    throw Error(ErrorKind::kUsage, fmt::format("--targets: only for IDX images and NumPy arrays; "
                                               "the targets of a table are in {} itself",
                                               name));
  }
  if (!is_array || !file.targets.empty()) return;
  if (!model.schema.columns.empty()) {
    if (!data::is_npy(file.data.path)) return;  // the reader of tables knows what it is
    refuse_array(file.data.path);
  }
  throw Error(ErrorKind::kUsage,
              fmt::format("--targets: expected a file with the targets of {}, got nothing", name));
}

/// The file with the labels of the training data, for messages.
const std::string& label_file(const config::DataConfig& data) {
  if (data.source == config::Source::kIdx) return data.idx.train_labels;
  if (data.source == config::Source::kNpy) return data.npy.targets;
  return data.path;
}

data::Dataset read_pair(const Model& model, const LabelledFile& file) {
  const data::Schema& schema = model.schema;
  data::Table table =
      data::is_npy(file.data.path)
          ? data::read_npy_pair(file.data.path, file.targets, &schema.scaling.offset,
                                schema.task == config::Task::kClassification)
          : data::read_idx_pair(file.data.path, file.targets);
  require_width(schema, table.features.num_columns, file.data.path);
  data::subtract_offsets(table.features, schema.scaling.offset);  // changes bytes of images only
  const auto num_targets = static_cast<int64_t>(table.target_names.size());
  if (num_targets != schema.num_targets()) {
    throw Error(
        ErrorKind::kData,
        fmt::format("{}: expected {} per row as in the training data, got {}",
                    file.targets.string(), counted(schema.num_targets(), "target"), num_targets));
  }
  std::vector<int64_t> num_unknown;
  return data::apply_schema(std::move(table), schema, label_file(model.config().data), num_unknown);
}

std::string contents_text(const std::vector<data::Fingerprint>& files) {
  std::vector<std::string> contents;
  contents.reserve(files.size());
  for (const data::Fingerprint& file : files) contents.push_back(data::content_text(file));
  return joined(contents);
}

/// Whether the members of each fold have rows that only they have not been trained on.
bool predicts_by_fold(const Model& model) {
  const std::vector<int32_t> folds = member_folds(model);
  return std::any_of(folds.begin(), folds.end(), [](int32_t fold) { return fold >= 0; });
}

data::Datasets datasets_of(const Model& model, const Member& member) {
  data::Datasets datasets =
      cache::load(member.config->data, static_cast<uint64_t>(member.config->seed), &model.schema);
  require_same_data(model, datasets);
  return datasets;
}

SplitRows whole_split(const Model& model, std::string name, data::Datasets datasets,
                      data::Dataset data::Datasets::*split) {
  data::require_intact(datasets.*split);
  SplitRows found{.split = std::move(name),
                  .schema = model.schema,
                  .rows = std::move(datasets.*split),
                  .num_train = datasets.train.size()};
  found.schema.target_means = std::move(datasets.schema.target_means);
  return found;
}

/// The rows of each validation fold that members have, one fold after the other.
SplitRows rows_by_fold(const Model& model) {
  SplitRows found{.split = kOutOfFold, .schema = model.schema, .rows = {}};
  const std::vector<int32_t> folds = member_folds(model);
  std::set<int32_t> known;
  for (std::size_t i = 0; i < folds.size(); ++i) {
    if (folds[i] < 0 || !known.insert(folds[i]).second) continue;
    data::Datasets datasets = datasets_of(model, model.members[i]);
    const data::Dataset& rows = datasets.validation;
    if (found.rows.size() == 0) found.schema.target_means = std::move(datasets.schema.target_means);
    data::require_intact(rows);
    data::append_rows(rows, found.rows);
    found.fold_of_row.resize(static_cast<std::size_t>(found.rows.size()), folds[i]);
  }
  return found;
}

}  // namespace

void require_same_data(const Model& model, const data::Datasets& datasets) {
  const std::string before = contents_text(model.fingerprints);
  const std::string now = contents_text(datasets.fingerprints);
  if (before == now) return;
  throw Error(ErrorKind::kData, fmt::format("{}: the data files of the run have changed: expected "
                                            "{}, got {}; name the file to evaluate with --data",
                                            model.file.string(), before, now));
}

data::Datasets own_datasets(const Model& model) {
  return datasets_of(model, model.members.front());
}

FileNotes read_labelled(const Model& model, const LabelledFile& file,
                        FunctionRef<void(const data::Dataset&)> take) {
  if (!file.targets.empty()) {
    require_right_files(model, file);
    take(read_pair(model, file));
    return {};
  }
  const auto no_work = [](std::size_t, std::size_t, const data::Dataset&) {};
  const auto take_slot = [&](std::size_t, const data::Dataset& rows) { take(rows); };
  return read_labelled_table(model, file.data, /*num_threads=*/1,
                             {.work = no_work, .take = take_slot});
}

FileNotes read_labelled_table(const Model& model, const data::TableSource& source,
                              int64_t num_threads, const LabelledStages& stages) {
  require_right_files(model, {.data = source});
  const std::string name = data::source_name(source);
  data::Schema schema = model.schema;
  schema.columns = make_columns(schema);
  const std::string& weight = model.config().data.weight;
  data::TableReader pieces(
      source, {.columns = schema.columns,
               .targets = schema.target_names,
               .weight = weight,
               .may_lack_weight = true,
               .delimiter_option = "--delimiter ",
               .drop_rows_without_target = model.config().data.drop_rows_without_target});
  std::vector<LabelledBatch> batches(pipeline_slots(num_threads));
  std::vector<int64_t> num_unknown(schema.columns.size());
  bool has_weights = false;
  const auto take = [&](std::size_t slot) { return pieces.take(kBatchSize, batches[slot].piece); };
  const auto work = [&](std::size_t slot, std::size_t thread) {
    LabelledBatch& batch = batches[slot];
    pieces.read(batch.piece);
    batch.num_unknown.assign(schema.columns.size(), 0);
    batch.rows = data::apply_schema(std::move(batch.piece.table), schema,
                                    label_file(model.config().data), batch.num_unknown);
    if (batch.rows.size() > 0) stages.work(slot, thread, batch.rows);
  };
  const auto give = [&](std::size_t slot) {
    const LabelledBatch& batch = batches[slot];
    for (std::size_t i = 0; i < num_unknown.size(); ++i) num_unknown[i] += batch.num_unknown[i];
    has_weights = has_weights || !batch.rows.weights.empty();
    if (batch.rows.size() > 0) stages.take(slot, batch.rows);
    return true;
  };
  run_pipeline(num_threads, {.take = take, .work = work, .give = give});
  pieces.require_rows();
  FileNotes notes{.warnings = data::describe_unknown(schema.columns, num_unknown, name),
                  .num_without_target = pieces.num_without_target(),
                  .num_weightless = pieces.num_weightless(),
                  .files = data::describe_files(source.path)};
  if (!weight.empty() && !has_weights) {
    notes.warnings.push_back(
        fmt::format("{} has no column {} (data.weight); all rows have the same weight in the loss",
                    name, in_quotes(weight)));
  }
  return notes;
}

SplitRows own_validation(const Model& model) {
  if (predicts_by_fold(model)) return rows_by_fold(model);
  return whole_split(model, "validation", own_datasets(model), &data::Datasets::validation);
}

SplitRows own_split(const Model& model) {
  data::Datasets datasets = own_datasets(model);
  const bool has_test = datasets.test.size() > 0;
  SplitRows found =
      !has_test && predicts_by_fold(model)
          ? rows_by_fold(model)
          : whole_split(model, has_test ? "test" : "validation", std::move(datasets),
                        has_test ? &data::Datasets::test : &data::Datasets::validation);
  if (found.rows.size() > 0) return found;
  throw Error(ErrorKind::kData,
              fmt::format("{}: the run has no test split and no validation split; name a file with "
                          "--data",
                          model.file.string()));
}

}  // namespace trainer::apply
