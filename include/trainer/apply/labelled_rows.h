// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "trainer/apply/model.h"
#include "trainer/core/function_ref.h"
#include "trainer/data/table_source.h"

/// Rows with their targets, as a model takes them.
namespace trainer::apply {

/// Of the run's own data.
struct SplitRows {
  std::string split;    // "test" or "validation"
  data::Schema schema;  // with the target means of the data, however old the checkpoint is
  data::Dataset rows;
};

/// The test split, or where there is none the validation split. Throws Error(kData) when there is
/// neither, when the data are not what they were, and as data::load_datasets does.
SplitRows own_split(const Model& model);

/// The data of a file.
struct LabelledFile {
  /// A table with the columns of the training data and its targets, in any order; or IDX images or
  /// a .npy array for a model that was trained on such.
  data::TableSource data;
  std::filesystem::path targets = {};  // IDX labels, or a .npy array; empty for a table
};

/// What is to be said about a file that was read.
struct FileNotes {
  std::vector<std::string> warnings = {};  // a line each
  int64_t num_without_target = 0;          // rows of the file that were left out for that
  int64_t num_weightless = 0;              // the same, for a weight of 0
  std::vector<std::string> files = {};     // lines about which files of a folder were read
};

/// Calls `take` for the rows of `file`, some at a time; each row counted by data.weight, and all
/// alike, with a warning, where the file has no such column. Throws Error(kData) as predict() does,
/// for a target that is missing, no number or a label that the model does not know, and
/// Error(kUsage) for targets of a table or an array without targets. A row without a target is left
/// out where training did so (data.drop_rows_without_target).
FileNotes read_labelled(const Model& model, const LabelledFile& file,
                        FunctionRef<void(const data::Dataset&)> take);

/// What happens to some rows of a file, in a slot of run_pipeline(): `work` on several threads at
/// once, then `take` on the calling one, in the order of the file.
struct LabelledStages {
  FunctionRef<void(std::size_t slot, std::size_t thread, const data::Dataset&)> work;
  FunctionRef<void(std::size_t slot, const data::Dataset&)> take;
};

/// The same on several threads, for a table.
FileNotes read_labelled_table(const Model& model, const data::TableSource& source,
                              int64_t num_threads, const LabelledStages& stages);

/// All data of the run. Throws Error(kData) when they are not what they were, and as
/// data::load_datasets does.
data::Datasets own_datasets(const Model& model);

/// Throws Error(kData) when `datasets` are not those that the model was trained on.
void require_same_data(const Model& model, const data::Datasets& datasets);

}  // namespace trainer::apply
