// SPDX-License-Identifier: Apache-2.0
#include "trainer/workflows/wizard/first_training.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "trainer/base/text/format.h"
#include "trainer/config/recipe.h"

namespace trainer::wizard {
namespace {

struct Candidate {
  config::Recipe recipe;
  int64_t min_epochs;    // with fewer epochs the next candidate is better
  int64_t usual_epochs;  // typical number of epochs until early stopping
};

// The most accurate recipe first. TabM takes 20 to 70 epochs. RealMLP reaches most of its accuracy
// in 16 epochs; with fewer than 8 it is no better than the plain recipe (docs/quality.md).
constexpr std::array<Candidate, 2> kCandidates = {
    {{config::Recipe::kTabm, 32, 64}, {config::Recipe::kRealmlp, 8, 256}}};

// Chooses a small network for few rows: a larger one soon memorizes a table of a few hundred rows.
void choose_sizes(int64_t num_train, config::Config& config) {
  struct Sizes {
    int64_t rows_below;
    int64_t width;
    int64_t epochs;
    int64_t batch_size;
    double learning_rate;
  };
  static constexpr std::array<Sizes, 5> kSizes = {{{1'000, 32, 100, 32, 3e-3},
                                                   {10'000, 64, 60, 32, 3e-3},
                                                   {100'000, 128, 30, 128, 2e-3},
                                                   {1'000'000, 256, 15, 512, 1e-3},
                                                   {INT64_MAX, 256, 8, 2048, 1e-3}}};
  const Sizes& sizes = *std::find_if(kSizes.begin(), kSizes.end(), [&](const Sizes& candidate) {
    return num_train < candidate.rows_below;
  });
  config.model.hidden_sizes = {sizes.width, sizes.width};
  config.training.epochs = sizes.epochs;
  config.training.batch_size = sizes.batch_size;
  config.training.learning_rate = sizes.learning_rate;
  config.training.early_stopping.patience = std::max<int64_t>(5, sizes.epochs / 2);
}

}  // namespace

void choose_training(FirstConfig& first, int64_t num_train, const EpochSeconds& epoch_seconds,
                     double time_limit) {
  config::TrainingConfig& training = first.config.training;
  for (const Candidate& candidate : kCandidates) {
    config::set_recipe(first.config, candidate.recipe);
    const double seconds = epoch_seconds(first.config);
    const auto fitting = static_cast<int64_t>(time_limit / seconds);
    if (fitting < std::min(candidate.min_epochs, training.epochs)) {
      first.recipe_reason = fmt::format("not enough time for {}, of which an epoch takes about {}",
                                        config::to_text(candidate.recipe), human_duration(seconds));
      continue;
    }
    first.training_seconds =
        std::min(seconds * static_cast<double>(candidate.usual_epochs), time_limit);
    if (fitting < training.epochs) {
      training.max_seconds = time_limit;
      first.time_reason =
          fmt::format("about {} of its {} epochs fit on the machine that wrote this",
                      with_thousands(fitting), training.epochs);
    }
    return;
  }
  config::set_recipe(first.config, config::Recipe::kPlain);
  choose_sizes(num_train, first.config);
  training.max_seconds = first.training_seconds = time_limit;
  first.time_reason = first.recipe_reason;
}

}  // namespace trainer::wizard
