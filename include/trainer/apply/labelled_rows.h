// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "trainer/apply/model.h"
#include "trainer/base/function_ref.h"
#include "trainer/base/memory/array.h"
#include "trainer/table/source/table_source.h"

/// Reads rows with their targets, encoded for a model.
namespace trainer::apply {

/// The split name of rows of which each is predicted only by the member that has not seen it.
inline constexpr const char* kOutOfFold = "out_of_fold";

/// A split of the run's own data.
struct SplitRows {
  std::string split;    // "test", "validation" or kOutOfFold
  data::Schema schema;  // the model's, with target means even if its checkpoint has none
  data::Dataset rows;
  /// [rows] the fold of each row (member_folds()), which only the members of that fold were not
  /// trained on, and therefore predict; empty: all members predict all rows.
  Array<int32_t> fold_of_row = {};
  int64_t num_train = 0;  // rows of the training split; 0 with fold_of_row
};

/// The rows of the run's own data that the model was not trained on: those of the test split, or of
/// the validation split if there is no test split. In an ensemble of folds these are, for each
/// member, the rows of its fold; of several repeats of a cross-validation only the first. Throws
/// Error(kData) if there are none, if the data files have changed, and as data::load_datasets()
/// does.
SplitRows own_split(const Model& model);

/// Like own_split(), but the rows of the validation split even if there is a test split, which can
/// then still evaluate what is chosen by them. Returns no rows if there is no validation split.
SplitRows own_validation(const Model& model);

/// A file with features and, there or in a second file, the targets.
struct LabelledFile {
  /// A table with the feature and target columns of the training data, in any order; or IDX images
  /// or a .npy array for a model that was trained on such data.
  data::TableSource data;
  std::filesystem::path targets = {};  // IDX labels or a .npy array; empty for a table
};

/// What the user should know about a file that was read.
struct FileNotes {
  std::vector<std::string> warnings = {};  // one line each
  int64_t num_without_target = 0;          // rows that were left out because they have no target
  int64_t num_weightless = 0;              // rows that were left out because their weight is 0
  std::vector<std::string> files = {};     // lines about which files of a folder were read
};

/// Calls `take` with the rows of `file`, a batch at a time. Rows are weighted by data.weight; if
/// the file lacks this column, all weights are equal and there is a warning. Rows without a target
/// are left out if training did so (data.drop_rows_without_target). Throws Error(kData) as
/// predict() does and for a target that is missing, not a number or an unknown label, and
/// Error(kUsage) for a table with a file of targets or an array without one.
FileNotes read_labelled(const Model& model, const LabelledFile& file,
                        FunctionRef<void(const data::Dataset&)> take);

/// The functions that read_labelled_table() calls with each batch of rows, in a slot of
/// run_pipeline(): `work` on several threads at once, then `take` on the calling thread, in the
/// order of the file.
struct LabelledStages {
  FunctionRef<void(std::size_t slot, std::size_t thread, const data::Dataset&)> work;
  FunctionRef<void(std::size_t slot, const data::Dataset&)> take;
};

/// Like read_labelled(), but for tables only and on `num_threads` threads.
FileNotes read_labelled_table(const Model& model, const data::TableSource& source,
                              int64_t num_threads, const LabelledStages& stages);

/// Loads all splits of the run's own data. Throws Error(kData) if the data files have changed, and
/// as data::load_datasets() does.
data::Datasets own_datasets(const Model& model);

/// Throws Error(kData) if the files of `datasets` differ from those that the model was trained on.
void require_same_data(const Model& model, const data::Datasets& datasets);

}  // namespace trainer::apply
