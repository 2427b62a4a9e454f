// SPDX-License-Identifier: Apache-2.0
#include "trainer/apply/evaluate.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "trainer/apply/predictor.h"
#include "trainer/core/error.h"
#include "trainer/core/text.h"
#include "trainer/cpu/kernels.h"
#include "trainer/data/columns.h"
#include "trainer/data/csv_pieces.h"
#include "trainer/data/fingerprint.h"

namespace trainer::apply {
namespace {

constexpr int64_t kRowsAtOnce = 4096;

/// The loss of each row `[n]`, not weighted.
std::vector<float> losses_of(const Model& model, std::span<const float> outputs,
                             const data::Dataset& rows) {
  const int64_t width = model.options.num_outputs;
  const cpu::Kernels& kernels = cpu::kernels();
  const std::vector<float> no_bias(static_cast<std::size_t>(width));
  std::vector<float> changed(outputs.begin(), outputs.end());  // by the kernels
  std::vector<float> losses(outputs.size() / static_cast<std::size_t>(width));
  std::vector<int32_t> correct(losses.size());
  const cpu::LossInput input{.tile = {static_cast<int64_t>(losses.size()), width, width},
                             .outputs = changed.data(),
                             .bias = no_bias.data(),
                             .label_smoothing = model.config.training.label_smoothing,
                             .huber_delta = model.config.training.huber_delta,
                             .wants_gradient = false};
  const cpu::LossOutput output{losses.data(), correct.data()};
  if (model.schema.task == config::Task::kRegression) {
    kernels.regression_loss(model.loss, input, rows.values.data(), output);
  } else if (model.loss == config::Loss::kBinaryCrossEntropy) {
    kernels.binary_cross_entropy(input, rows.classes.data(), output);
  } else {
    kernels.cross_entropy(input, rows.classes.data(), output);
  }
  return losses;
}

/// Outputs and targets of rows that come one piece after the other.
class Evaluation {
 public:
  Evaluation(const Model& model, int64_t num_threads)
      : model_(model), predictor_(model, num_threads) {}

  void add(const data::Dataset& rows) {
    predictor_.predict(rows.features, piece_);
    const std::vector<float> losses = losses_of(model_, piece_, rows);
    for (std::size_t i = 0; i < losses.size(); ++i) {
      const double weight = rows.weights.empty() ? 1 : static_cast<double>(rows.weights[i]);
      loss_sum_ += weight * static_cast<double>(losses[i]);
      weight_sum_ += weight;
    }
    outputs_.insert(outputs_.end(), piece_.begin(), piece_.end());
    all_.classes.insert(all_.classes.end(), rows.classes.begin(), rows.classes.end());
    all_.values.insert(all_.values.end(), rows.values.begin(), rows.values.end());
  }

  metrics::Report report() const {
    return metrics::make_report({model_.schema, all_, {outputs_, model_.options.num_outputs}},
                                loss_sum_ / weight_sum_);
  }

 private:
  const Model& model_;
  Predictor predictor_;
  std::vector<float> piece_;
  std::vector<float> outputs_;
  data::Dataset all_;  // targets only
  double loss_sum_ = 0;
  double weight_sum_ = 0;
};

void require_table(const Model& model, const std::filesystem::path& data) {
  if (!model.schema.columns.empty()) return;
  throw Error(ErrorKind::kData,
              fmt::format("{}: the model was not trained on a table, so that there are no columns "
                          "to be found in it; leave --data out to evaluate the run's own test part",
                          data.string()));
}

std::string content_of(const std::vector<data::Fingerprint>& files) {
  std::vector<std::string> contents;
  contents.reserve(files.size());
  for (const data::Fingerprint& file : files) contents.push_back(data::content_text(file));
  return joined(contents);
}

void require_same_data(const Model& model, const data::Datasets& datasets) {
  const std::string before = content_of(model.fingerprints);
  const std::string now = content_of(datasets.fingerprints);
  if (before == now) return;
  throw Error(ErrorKind::kData,
              fmt::format("{}: the data files of the run are not what they were: expected {}, got "
                          "{}; name the file to evaluate with --data",
                          model.file.string(), before, now));
}

}  // namespace

Evaluated evaluate_file(const Model& model, const std::filesystem::path& data, char delimiter,
                        int64_t num_threads) {
  require_table(model, data);
  const data::Schema& schema = model.schema;
  const std::string& weight = model.config.data.weight;
  data::CsvPieces pieces(data,
                         {.columns = schema.columns,
                          .targets = schema.target_names,
                          .weight = weight,
                          .delimiter_option = "--delimiter "},
                         delimiter);
  Evaluation evaluation(model, num_threads);
  std::vector<int64_t> num_unknown(schema.columns.size());
  data::Table table;
  double weight_sum = 0;
  while (pieces.next(table, kRowsAtOnce)) {
    const data::Dataset rows =
        data::dataset_as_trained(table, schema, model.config.data.path, num_unknown);
    weight_sum += std::accumulate(rows.weights.begin(), rows.weights.end(), 0.0);
    evaluation.add(rows);
  }
  if (!weight.empty() && weight_sum == 0) {
    throw Error(ErrorKind::kData, fmt::format("{}: column {}: every row has weight 0",
                                              data.string(), in_quotes(weight)));
  }
  Evaluated evaluated{evaluation.report(), "", {}};
  evaluated.warnings = data::describe_unknown(schema.columns, num_unknown, data.string());
  return evaluated;
}

Evaluated evaluate_own_part(const Model& model, int64_t num_threads) {
  const data::Datasets datasets =
      data::load_datasets(model.config.data, static_cast<uint64_t>(model.config.seed),
                          &model.schema);
  require_same_data(model, datasets);
  const bool has_test = datasets.test.size() > 0;
  const data::Dataset& rows = has_test ? datasets.test : datasets.validation;
  if (rows.size() == 0) {
    throw Error(ErrorKind::kData,
                fmt::format("{}: the run has neither a test part nor a validation part; name a "
                            "file with --data",
                            model.file.string()));
  }
  Evaluation evaluation(model, num_threads);
  evaluation.add(rows);
  return {evaluation.report(), has_test ? "test" : "validation", {}};
}

}  // namespace trainer::apply
