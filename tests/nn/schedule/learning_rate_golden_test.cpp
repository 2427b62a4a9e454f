// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <gtest/gtest.h>

#include "trainer/base/text/json.h"
#include "trainer/config/training_config.h"
#include "trainer/nn/schedule/learning_rate.h"

#include "support/golden_file.h"

namespace trainer::schedule {
namespace {

using config::ScheduleName;

constexpr double kTolerance = 1e-12;  // PyTorch computes most of them one from the other

TEST(ScheduleGoldenTest, EveryRateIsThatOfPyTorch) {
  const Json golden = test::read_golden("schedules.json");
  for (const Json& c : golden.at("by_step")) {
    ScheduleOptions options;
    options.name = from_text<ScheduleName>(c.at("name").get<std::string>()).value();
    options.peak = c.at("peak");
    options.warmup_steps = c.at("warmup_steps");
    options.total_steps = c.at("total_steps");
    options.final_factor = c.value("final_factor", 0.0);
    options.gamma = c.value("gamma", 1.0);
    options.drop_steps = c.value("drop_steps", 1);
    options.rise_fraction = c.value("rise_fraction", 0.0);
    options.initial_factor = c.value("initial_factor", 0.0);
    options.cycles = c.value("cycles", 1);
    for (int64_t step = 0; step < options.total_steps; ++step) {
      EXPECT_NEAR(learning_rate(options, step), c.at("rates").at(static_cast<std::size_t>(step)),
                  kTolerance)
          << c.at("name") << " step " << step << " of " << options.total_steps;
    }
  }
}

TEST(ScheduleGoldenTest, PlateausAreReducedAsByPyTorch) {
  const Json golden = test::read_golden("schedules.json");
  for (const Json& c : golden.at("plateaus")) {
    config::ScheduleConfig schedule;
    schedule.patience = c.at("patience");
    schedule.threshold = c.at("threshold");
    schedule.cooldown = c.at("cooldown");
    ScheduleOptions options;
    options.name = ScheduleName::kReduceOnPlateau;
    options.peak = c.at("peak");
    options.gamma = c.at("gamma");
    options.min_rate = c.at("min_learning_rate");
    const Better better = c.at("better") == "lower" ? Better::kLower : Better::kHigher;
    PlateauState state;
    for (std::size_t epoch = 0; epoch < c.at("metrics").size(); ++epoch) {
      state = after_epoch(state, c.at("metrics").at(epoch), better, schedule, options);
      EXPECT_NEAR(learning_rate(options, 0, state.num_reductions), c.at("rates").at(epoch),
                  kTolerance)
          << c.dump() << " epoch " << epoch;
    }
  }
}

}  // namespace
}  // namespace trainer::schedule
