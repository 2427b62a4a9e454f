// SPDX-License-Identifier: Apache-2.0
// Recipes are tables of defaults. Keys that depend on the data wait in Config::pending until the
// data have been read; the resolved configuration of a run states every value.
#include "trainer/config/recipe.h"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include "trainer/base/text/format.h"
#include "trainer/config/fields.h"

#include "config/recipe.h"
#include "config/values.h"

namespace trainer::config {
namespace {

// RealMLP-TD (arXiv:2407.04491, table A.1) with the batch sizes of TabArena (arXiv:2506.16791). The
// best epoch is the one with the best probabilities after calibration (arXiv:2501.19195) instead of
// the best accuracy, which differs little between epochs if there are few rows.
const std::vector<RecipeRule> kRealmlp = {
    {"data.binary", "sign"},
    {"data.embed_above", "8"},
    {"data.scaling", "robust"},
    {"data.scale_categories", "true"},
    {"data.smooth_clip", "3"},
    {"data.clip_predictions", "true"},
    {"model.hidden_size", "256"},
    {"model.num_layers", "3"},
    {"model.activation", ByTask{"selu", "mish"}},
    {"model.parametric_activation", "true"},
    {"model.dropout", "0.15"},
    {"model.input_scale", "true"},
    {"model.numeric_embedding", "periodic"},
    {"model.init", "data"},
    {"model.parametrization", "ntk"},
    {"training.epochs", "256"},
    {"training.batch_size",
     ByRows{{{1'024, "64"}, {8'192, "128"}, {30'000, "256"}, {100'000, "512"}}, "1024"}},
    {"training.drop_last", "true"},
    {"training.learning_rate", ByTask{"0.04", "0.2"}},
    {"training.label_smoothing", ByTask{"0.1", "0"}},
    {"training.gradient_clip_norm", "0"},
    {"training.best_metric", ByTask{"calibrated_log_loss", "rmse"}},
    {"training.best_ties", "last"},
    {"training.calibrate", "true"},
    {"training.lr_factors",
     R"(["input_scale.*=6", "numeric_embeddings.*=0.1", "activations.*=0.1", "*.bias=0.1"])"},
    {"training.optimizer.weight_decay", "0.02"},
    {"training.optimizer.beta2", "0.95"},
    {"training.schedule.name", "coslog"},
    {"training.schedule.dropout", "flat_cosine"},
    {"training.schedule.weight_decay", "flat_cosine"},
};

// TabM-mini with piecewise-linear embeddings (arXiv:2410.24210) and the defaults of its authors'
// package, but with 4 members and layers of 256 instead of 32 and 512, which takes a twentieth of
// the time and is as accurate (docs/quality.md). The best epoch is the one with the best
// probabilities (arXiv:2501.19195), because accuracy differs little between epochs if there are few
// rows.
const std::vector<RecipeRule> kTabm = {
    {"data.scaling", BySource{"quantile_normal", "standard"}},
    {"data.clip_predictions", "true"},
    {"model.hidden_size", "256"},
    {"model.num_layers", "2"},
    {"model.dropout", "0.1"},
    {"model.ensemble_size", "4"},
    {"model.numeric_embedding", "piecewise_linear"},
    {"model.numeric_embedding_size", "16"},
    {"training.epochs", "256"},
    {"training.batch_size",
     ByRows{{{2'800, "32"}, {4'500, "64"}, {6'400, "128"}, {32'000, "256"}, {108'000, "512"}},
            "1024"}},
    {"training.learning_rate", "0.002"},
    {"training.gradient_clip_norm", "1"},
    {"training.best_metric", ByTask{"calibrated_log_loss", "rmse"}},
    {"training.calibrate", "true"},
    {"training.optimizer.weight_decay", "0.0003"},
    {"training.schedule.name", "constant"},
    {"training.early_stopping.patience", "16"},
};

// Ridge regression, then few steps that stay near it, which fit classes better. Where columns are
// many and rows are few, deeper networks find less (docs/quality.md).
const std::vector<RecipeRule> kLinear = {
    {"data.scaling", "standard"},
    {"data.clip_predictions", "true"},
    {"model.num_layers", "0"},
    {"model.init", "ridge"},
    {"training.epochs", "32"},
    {"training.batch_size", ByRows{{{1'024, "64"}, {8'192, "128"}, {30'000, "256"}}, "1024"}},
    {"training.learning_rate", ByTask{"0.003", "0.0003"}},
    {"training.gradient_clip_norm", "1"},
    {"training.best_metric", ByTask{"calibrated_log_loss", "rmse"}},
    {"training.calibrate", "true"},
    {"training.schedule.name", "cosine"},
};

struct InWords {
  std::string operator()(const char* value) const { return value; }
  std::string operator()(const ByTask& value) const {
    return fmt::format("{} for classification, {} for regression", value.classification,
                       value.regression);
  }
  std::string operator()(const BySource& value) const {
    return fmt::format("{} for CSV files, {} for others", value.csv, value.others);
  }
  std::string operator()(const ByRows& value) const {
    std::string text;
    for (const auto& [rows, size] : value.up_to) {
      text += fmt::format("{} up to {}{}, ", size, with_thousands(rows),
                          text.empty() ? " training rows" : "");
    }
    return fmt::format("{}else {}", text, value.above);
  }
};

struct ValueOf {
  const DataFacts& facts;

  std::optional<std::string> operator()(const char* value) const { return value; }
  std::optional<std::string> operator()(const ByTask& value) const {
    if (facts.task == Task::kAuto) return std::nullopt;
    return facts.task == Task::kRegression ? value.regression : value.classification;
  }
  std::optional<std::string> operator()(const BySource& value) const {
    return is_table(facts.source) ? value.csv : value.others;
  }
  std::optional<std::string> operator()(const ByRows& value) const {
    if (facts.num_train == 0) return std::nullopt;
    for (const auto& [rows, size] : value.up_to) {
      if (facts.num_train <= rows) return size;
    }
    return value.above;
  }
};

}  // namespace

const std::vector<RecipeRule>& recipe_rules(Recipe recipe) {
  static const std::vector<RecipeRule> kPlain;
  switch (recipe) {
    case Recipe::kPlain:
      return kPlain;
    case Recipe::kRealmlp:
      return kRealmlp;
    case Recipe::kTabm:
      return kTabm;
    case Recipe::kLinear:
      return kLinear;
  }
  return kPlain;
}

std::optional<std::string> value_of(const RecipeRule& rule, const DataFacts& facts) {
  return std::visit(ValueOf{facts}, rule.value);
}

void apply_rule(const RecipeRule& rule, const std::string& value, Config& config) {
  if (const auto problem = assign(*find_field(rule.key), config, YAML::Load(value), "")) {
    throw std::logic_error(fmt::format("recipe: {}: {}", rule.key, *problem));
  }
}

DataFacts known_facts(const Config& config) {
  const Loss loss = config.training.loss;
  DataFacts facts{.task = config.data.task, .source = config.data.source};
  if (facts.task != Task::kAuto) return facts;
  if (is_for_classes(loss)) facts.task = Task::kClassification;
  if (is_for_regression(loss)) facts.task = Task::kRegression;
  return facts;
}

std::vector<RecipeDefault> recipe_defaults(Recipe recipe) {
  std::vector<RecipeDefault> defaults;
  for (const RecipeRule& rule : recipe_rules(recipe)) {
    defaults.push_back({rule.key, std::visit(InWords{}, rule.value)});
  }
  return defaults;
}

bool sets_default(Recipe recipe, const std::string& key) {
  const std::vector<RecipeRule>& rules = recipe_rules(recipe);
  return std::any_of(rules.begin(), rules.end(),
                     [&](const RecipeRule& rule) { return rule.key == key; });
}

bool has_recipe_default(const Config& config, const std::string& key) {
  for (const RecipeRule& rule : recipe_rules(config.recipe)) {
    if (key != rule.key || !std::holds_alternative<const char*>(rule.value)) continue;
    Config defaults;
    apply_rule(rule, std::get<const char*>(rule.value), defaults);
    return value_text(key, config) == value_text(key, defaults);
  }
  return false;
}

void set_recipe(Config& config, Recipe recipe) {
  for (const RecipeRule& rule : recipe_rules(config.recipe)) {
    reset(*find_field(rule.key), config);
    std::erase(config.pending, rule.key);
  }
  config.recipe = recipe;
  const DataFacts facts = known_facts(config);
  for (const RecipeRule& rule : recipe_rules(recipe)) {
    if (const auto value = value_of(rule, facts)) {
      apply_rule(rule, *value, config);
    } else {
      config.pending.emplace_back(rule.key);
    }
  }
}

void complete_recipe(Config& config, const DataFacts& facts) {
  for (const RecipeRule& rule : recipe_rules(config.recipe)) {
    // Such a value was set by load(). If the key is pending all the same, that has another reason.
    if (std::holds_alternative<const char*>(rule.value)) continue;
    if (std::erase(config.pending, rule.key) == 0) continue;
    apply_rule(rule, value_of(rule, facts).value(), config);
  }
}

}  // namespace trainer::config
