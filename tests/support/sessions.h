// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "trainer/train/fit.h"
#include "trainer/train/session.h"

#include "support/quiet_log.h"
#include "support/temporary_folder.h"
#include "support/test_device.h"

namespace trainer::test {

/// Small and quick: 60 samples of 5 features in 3 classes, an MLP 5-8-8-3, 4 epochs of 8 samples a
/// batch. A record a step.
inline config::Config small_config() {
  config::Config config;
  config.data.synthetic = {.num_samples = 60, .num_features = 5, .num_classes = 3};
  config.model.hidden_sizes = {8, 8};
  config.training.epochs = 4;
  config.training.batch_size = 8;
  config.training.learning_rate = 0.01;
  config.logging.save_interval = 1;
  return config;
}

/// Those of test_device(): accelerators have no fused step.
inline std::vector<config::StepKind> step_kinds() {
  if (!test_device().is_cpu()) return {config::StepKind::kAutograd};
  return {config::StepKind::kAutograd, config::StepKind::kFused};
}

/// On test_device(), with a step of one thread.
inline std::unique_ptr<train::Session> make_session(const config::Config& config,
                                                    data::Datasets datasets) {
  auto session = train::make_session(config, std::move(datasets), test_device());
  train::use_threads(*session, 1);
  return session;
}

inline std::unique_ptr<train::Session> make_small_session(const config::Config& config) {
  const auto seed = static_cast<uint64_t>(config.seed);
  return make_session(config, data::load_datasets(config.data, seed));
}

/// A CSV table with two numeric columns a and b, text columns "many" with 11 categories, some of
/// its cells missing, and "few" with 5, and 3 classes y that follow from all of them.
inline std::string categories_table(int64_t num_rows) {
  std::string text = "many,a,few,b,y\n";
  for (int64_t i = 0; i < num_rows; ++i) {
    const int64_t many = i * 7 % 12;
    const int64_t few = i * i % 5;
    const int64_t a = i * 29 % 31;
    const int64_t b = i * 5 % 17;
    text += fmt::format("{},{},f{},{},{}\n", many == 11 ? "" : fmt::format("m{}", many), a, few, b,
                        (many + few + (a > b ? 1 : 0)) % 3);
  }
  return text;
}

/// As small_config(), for such a table in `folder`, whose two categorical columns are embedded.
inline config::Config embedding_config(const TemporaryFolder& folder, int64_t num_rows) {
  config::Config config = small_config();
  config.data = {};
  config.data.source = config::Source::kCsv;
  config.data.path = folder.write("categories.csv", categories_table(num_rows)).string();
  config.data.target = {"y"};
  config.data.embed_above = 4;
  config.data.validation_fraction = 0;
  config.data.test_fraction = 0;
  return config;
}

/// `num_rows` equal samples of three features 1 and the target `value`.
inline data::Dataset equal_rows(int64_t num_rows, float value) {
  const auto size = static_cast<std::size_t>(num_rows);
  std::vector<int64_t> places(size);
  std::iota(places.begin(), places.end(), 1);
  return {{num_rows, 3, std::vector<float>(3 * size, 1.0F)},
          {},
          std::vector<float>(size, value),
          std::move(places)};
}

/// A linear regression whose numbers can be told by hand. All training samples are (1, 1, 1) -> 1
/// and all weights begin at 0. With d = prediction - 1 the loss is d^2 and each of the four
/// parameters has the gradient 2d; SGD with the rate 1/16 halves d in each step, exactly.
inline config::Config exact_config() {
  config::Config config;
  config.model.num_layers = 0;
  config.training.epochs = 2;
  config.training.batch_size = 2;
  config.training.learning_rate = 0.0625;
  config.training.gradient_clip_norm = 0;
  config.training.schedule.name = config::ScheduleName::kConstant;
  config.training.optimizer = {
      .name = config::OptimizerName::kSgd, .weight_decay = 0, .momentum = 0};
  config.logging.save_interval = 1;
  return config;
}

inline std::unique_ptr<train::Session> make_exact_session(const config::Config& config,
                                                          data::Dataset train,
                                                          data::Dataset validation) {
  data::Datasets datasets;
  datasets.train = std::move(train);
  datasets.validation = std::move(validation);
  datasets.schema = {config::Task::kRegression, {"a", "b", "c"}, {"y"}, {},
                     {{0, 0, 0}, {1, 1, 1}},    {{0}, {1}}};
  auto session = make_session(config, std::move(datasets));
  session->model.parameters().values.zero_();
  return session;
}

/// A step, and the next epoch when it was the last of one; what fit() does without its traces.
inline void make_step(train::Session& session) {
  train::advance(session,
                 session.step->run(train::next_window(session), train::next_rates(session)));
  if (session.state.position.samples_in_epoch < session.train.size()) return;
  ++session.state.position.epoch;
  session.state.position.samples_in_epoch = 0;
}

/// Where fit() writes, in a folder that vanishes.
class Traces {
 public:
  explicit Traces(const config::Config& config) : Traces(config, "") {}

  /// Begins with `metrics` in metrics.jsonl, as a resumed run does.
  Traces(const config::Config& config, const std::string& metrics)
      : file_(folder_.write("metrics.jsonl", metrics)),
        output_{.metrics = run::MetricsLog(file_, metrics.size()),
                .checkpoints = checkpoint::Store(checkpoints(), config.checkpoint.keep_last),
                .config = "seed: 42\n",
                .num_threads = 1,
                .progress = {}} {
    std::filesystem::create_directory(checkpoints());
  }

  train::Output& output() { return output_; }
  const std::filesystem::path& metrics() const { return file_; }
  std::filesystem::path checkpoints() const { return folder_.path() / "checkpoints"; }

 private:
  QuietLog quiet_;
  TemporaryFolder folder_;
  std::filesystem::path file_;
  train::Output output_;
};

}  // namespace trainer::test
