// SPDX-License-Identifier: Apache-2.0
// Which operators runs launch on a device. Each must have a kernel for MPS, or a run on a Mac ends
// with "not currently implemented for the MPS device".
#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "trainer/config/recipe.h"
#include "trainer/train/fit.h"
#include "trainer/train/trials.h"

#include "simulated_device/memory.h"
#include "simulated_device/state.h"
#include "support/sessions.h"

namespace trainer::test::simulated {
namespace {

std::set<std::string> read_list(const std::string& name) {
  std::ifstream file(std::string(TRAINER_SOURCE_DIR "/tests/simulated_device/") + name);
  std::set<std::string> names;
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && line.front() != '#') names.insert(line);
  }
  return names;
}

std::vector<config::Config> all_kinds(const TemporaryFolder& folder) {
  std::vector<config::Config> all;
  const auto add = [&](const auto& change) {
    config::Config config = small_config();
    config.training.epochs = 1;
    change(config);
    all.push_back(config);
  };
  for (const auto activation :
       {config::Activation::kRelu, config::Activation::kGelu, config::Activation::kSilu,
        config::Activation::kTanh, config::Activation::kSelu, config::Activation::kMish}) {
    add([&](config::Config& c) { c.model.activation = activation; });
  }
  for (const auto norm : {config::Norm::kBatch, config::Norm::kLayer}) {
    add([&](config::Config& c) {
      c.model.norm = norm;
      c.model.dropout = 0.3;
      c.model.residual = true;
    });
  }
  for (const auto name : {config::OptimizerName::kSgd, config::OptimizerName::kAdam,
                          config::OptimizerName::kRmsprop}) {
    for (const bool has_momentum : {false, true}) {
      add([&](config::Config& c) {
        c.training.optimizer.name = name;
        c.training.optimizer.momentum = has_momentum ? 0.9 : 0;
        c.training.optimizer.nesterov = has_momentum && name == config::OptimizerName::kSgd;
      });
    }
  }
  for (const auto loss : {config::Loss::kMse, config::Loss::kL1, config::Loss::kHuber}) {
    config::Config config = embedding_config(folder, 60);
    config.data.target = {"a", "b"};
    config.data.task = config::Task::kRegression;
    config.training.loss = loss;
    all.push_back(config);
  }
  add([](config::Config& c) {
    c.data.synthetic.num_classes = 2;
    c.training.loss = config::Loss::kBinaryCrossEntropy;
  });
  add([](config::Config& c) {
    c.training.label_smoothing = 0.1;
    c.training.ema_decay = 0.9;
    c.training.gradient_accumulation_steps = 2;
    c.training.freeze = {"layers.0.*"};
  });
  add([](config::Config& c) { c.model.activation_checkpointing = true; });
  add([](config::Config& c) { c.distributed.shards = 4; });
  for (const auto recipe :
       {config::Recipe::kRealmlp, config::Recipe::kTabm, config::Recipe::kLinear}) {
    add([&](config::Config& c) { config::set_recipe(c, recipe); });
  }
  all.push_back(embedding_config(folder, 60));
  return all;
}

void run(config::Config config) {
  data::Datasets data = data::load_datasets(config.data, static_cast<uint64_t>(config.seed));
  config::complete_recipe(config, data::recipe_facts(data));
  config.training.epochs = 1;
  EXPECT_EQ(train::find_device_problem(config, data, the_device()), "");
  const auto session = train::make_session(config, std::move(data), the_device());
  train::use_threads(*session, 1);
  Traces traces(session->config);
  train::fit(*session, traces.output());
  train::evaluate_best(*session, traces.output());
}

TEST(LaunchedOperatorsTest, AreThoseOfTheListAndHaveKernelsForMps) {
  state().behaviour = {};  // LibTorch 1.13 needs float64
  const TemporaryFolder folder;
  reset_counters();
  for (const config::Config& config : all_kinds(folder)) run(config);
  const std::set<std::string> listed = read_list("launched_operators.txt");
  const std::set<std::string> missing = read_list("missing_on_mps.txt");
  std::vector<std::string> unknown;
  for (const auto& [name, count] : counters().by_operator) {
    if (!listed.contains(name)) unknown.push_back(name);
  }
  EXPECT_TRUE(unknown.empty()) << "not in launched_operators.txt:\n"
                               << fmt::format("{}", fmt::join(unknown, "\n"));
  std::vector<std::string> lacking;
  std::set_intersection(listed.begin(), listed.end(), missing.begin(), missing.end(),
                        std::back_inserter(lacking));
  EXPECT_TRUE(lacking.empty()) << "MPS has no kernel for:\n"
                               << fmt::format("{}", fmt::join(lacking, "\n"));
}

}  // namespace
}  // namespace trainer::test::simulated
