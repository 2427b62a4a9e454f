// SPDX-License-Identifier: Apache-2.0
#include "table/load_arrays.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "trainer/base/text/format.h"
#include "trainer/config/data_config.h"
#include "trainer/table/schema/apply_schema.h"
#include "trainer/table/source/idx.h"
#include "trainer/table/source/npy.h"

#include "table/error.h"
#include "table/split/split_dataset.h"

namespace trainer::data {
namespace {

/// Features and targets in files of their own.
struct FilePair {
  std::string features;
  std::string targets;
};

/// `test` may be empty.
template <class Read>
Datasets load_pairs(const config::DataConfig& data, SplitOptions options, const Schema* trained,
                    const FilePair& train, const FilePair& test, const Read& read) {
  const bool has_test = !test.features.empty();
  if (has_test) options.test_fraction = 0;
  Datasets datasets = fit_and_split(
      read(train.features, train.targets, trained == nullptr ? nullptr : &trained->scaling.offset),
      data, options, trained);
  if (!has_test) return datasets;

  const Schema& schema = datasets.schema;
  Table table = read(test.features, test.targets, &schema.scaling.offset);
  const auto require_equal = [](const std::string& file, const char* what, int64_t got,
                                const std::string& train_file, int64_t expected) {
    if (got == expected) return;
    throw data_error(
        file, fmt::format("expected {} {} per row as in {}, got {}", with_thousands(expected), what,
                          train_file, with_thousands(got)));
  };
  require_equal(test.features, "features", table.features.num_columns, train.features,
                schema.num_features());
  require_equal(test.targets, "targets", static_cast<int64_t>(table.target_names.size()),
                train.targets, schema.num_targets());
  datasets.fingerprints.insert(datasets.fingerprints.end(), table.fingerprints.begin(),
                               table.fingerprints.end());
  std::vector<int64_t> num_unknown;
  datasets.test = apply_schema(std::move(table), schema, train.targets, num_unknown);
  return datasets;
}

}  // namespace

Datasets load_idx(const config::DataConfig& data, const SplitOptions& options,
                  const Schema* trained) {
  const config::IdxConfig& files = data.idx;
  // Bytes have no offsets.
  const auto read = [](const std::string& images, const std::string& labels,
                       const std::vector<double>*) { return read_idx_pair(images, labels); };
  return load_pairs(data, options, trained, {files.train_images, files.train_labels},
                    {files.test_images, files.test_labels}, read);
}

Datasets load_npy(const config::DataConfig& data, const SplitOptions& options,
                  const Schema* trained) {
  const config::NpyConfig& files = data.npy;
  const auto read = [&](const std::string& features, const std::string& targets,
                        const std::vector<double>* offsets) {
    return read_npy_pair(features, targets, offsets, data.task == config::Task::kClassification);
  };
  return load_pairs(data, options, trained, {files.features, files.targets},
                    {files.test_features, files.test_targets}, read);
}

}  // namespace trainer::data
