// SPDX-License-Identifier: Apache-2.0
#include "workflows/experiments/search_space.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "trainer/base/error.h"
#include "trainer/base/philox.h"
#include "trainer/base/text/format.h"
#include "trainer/base/text/parse.h"
#include "trainer/config/fields.h"

namespace trainer::experiments {
namespace {

constexpr std::array<std::pair<std::string_view, Draw>, 4> kDraws = {{{"uniform", Draw::kUniform},
                                                                      {"log", Draw::kLog},
                                                                      {"int", Draw::kInt},
                                                                      {"choice", Draw::kChoice}}};

/// The elements between commas that are in no brackets.
std::vector<std::string> elements_of(std::string_view text) {
  std::vector<std::string> elements(1);
  int depth = 0;
  for (const char c : text) {
    depth += c == '[' ? 1 : (c == ']' ? -1 : 0);
    if (c == ',' && depth == 0) {
      elements.emplace_back();
    } else if (c != ' ' || !elements.back().empty()) {
      elements.back() += c;
    }
  }
  return elements;
}

[[noreturn]] void refuse(const SpaceKey& range) {
  throw Error(ErrorKind::kUsage,
              fmt::format("{}: expected log(LOW,HIGH), uniform(LOW,HIGH), int(LOW,HIGH) or "
                          "choice(A,B,...), got {}",
                          range.key, in_quotes(range.range)));
}

bool is_right(const KeyRange& range) {
  if (range.draw == Draw::kChoice) {
    return std::none_of(range.choices.begin(), range.choices.end(),
                        [](const std::string& choice) { return choice.empty(); });
  }
  const bool is_whole = range.low == std::floor(range.low) && range.high == std::floor(range.high);
  return range.low < range.high && (range.draw != Draw::kInt || is_whole) &&
         (range.draw != Draw::kLog || range.low > 0);
}

// Few digits, so that a setting can be read and typed again.
std::string number_text(double number) { return fmt::format("{:.4g}", number); }

std::string draw_value(const KeyRange& range, PhiloxStream& random) {
  switch (range.draw) {
    case Draw::kUniform:
      return number_text(range.low + random.uniform() * (range.high - range.low));
    case Draw::kLog:
      return number_text(range.low * std::pow(range.high / range.low, random.uniform()));
    case Draw::kInt:
      return fmt::format("{:.0f}",
                         range.low + static_cast<double>(random.below(
                                         static_cast<uint64_t>(range.high - range.low) + 1)));
    case Draw::kChoice:
      return range.choices[random.below(range.choices.size())];
  }
  return "";
}

}  // namespace

bool is_range(const std::string& value) {
  const std::string_view name = std::string_view(value).substr(0, value.find('('));
  return value.ends_with(')') && name.size() < value.size() &&
         std::any_of(kDraws.begin(), kDraws.end(),
                     [&](const auto& draw) { return draw.first == name; });
}

KeyRange parse_range(const SpaceKey& range) {
  if (!is_range(range.range)) refuse(range);
  const std::size_t open = range.range.find('(');
  KeyRange parsed{range};
  for (const auto& [name, draw] : kDraws) {
    if (range.range.starts_with(name)) parsed.draw = draw;
  }
  parsed.choices =
      elements_of(std::string_view(range.range).substr(open + 1, range.range.size() - open - 2));
  if (parsed.draw != Draw::kChoice) {
    if (parsed.choices.size() != 2) refuse(range);
    const std::optional<double> low = parse_double(parsed.choices[0]);
    const std::optional<double> high = parse_double(parsed.choices[1]);
    if (!low || !high) refuse(range);
    parsed.low = *low;
    parsed.high = *high;
  }
  if (!is_right(parsed)) refuse(range);
  return parsed;
}

std::vector<KeyRange> parse_space(const std::vector<SpaceKey>& space) {
  std::vector<KeyRange> ranges;
  std::set<std::string> known;
  for (const SpaceKey& one : space) {
    const std::string section = one.key.substr(0, one.key.find('.'));
    if (config::find_field(one.key) == nullptr) {
      throw Error(ErrorKind::kUsage,
                  fmt::format("{}: unknown key, got the range {}; `trainer config reference` lists "
                              "the keys",
                              one.key, in_quotes(one.range)));
    }
    if (section != "model" && section != "training") {
      throw Error(ErrorKind::kUsage,
                  fmt::format("{}: only keys of model and training can be searched, because all "
                              "members of an ensemble share the rest; give one value, or make a "
                              "search for each",
                              one.key));
    }
    if (!known.insert(one.key).second) {
      throw Error(ErrorKind::kUsage,
                  fmt::format("{}: expected one range, got several; remove all but one", one.key));
    }
    ranges.push_back(parse_range(one));
  }
  return ranges;
}

std::vector<config::Override> draw_trial(const std::vector<KeyRange>& space, uint64_t seed,
                                         int64_t number) {
  std::vector<config::Override> settings;
  settings.reserve(space.size());
  PhiloxStream random(seed, StreamId::kTrial, static_cast<uint64_t>(number));
  for (const KeyRange& range : space) {
    settings.push_back({range.key, draw_value(range, random), "search"});
  }
  return settings;
}

std::vector<config::Override> extreme_settings(const std::vector<KeyRange>& space) {
  std::vector<config::Override> settings;
  for (const KeyRange& range : space) {
    std::vector<std::string> values = range.choices;
    if (range.draw != Draw::kChoice) values = {number_text(range.low), number_text(range.high)};
    for (const std::string& value : values) settings.push_back({range.key, value, "search"});
  }
  return settings;
}

namespace {

std::vector<SpaceKey> space_of(config::Recipe recipe) {
  switch (recipe) {
    case config::Recipe::kRealmlp:
      return {{"training.learning_rate", "log(0.02,0.3)"},
              {"training.optimizer.weight_decay", "log(0.001,0.05)"},
              {"model.dropout", "uniform(0,0.4)"},
              {"model.num_layers", "int(2,4)"},
              {"model.hidden_size", "choice(128,256,384)"}};
    case config::Recipe::kTabm:
      return {{"training.learning_rate", "log(5e-4,5e-3)"},
              {"training.optimizer.weight_decay", "choice(0,3e-4,3e-3,3e-2)"},
              {"model.dropout", "choice(0,0.1,0.2,0.4)"},
              {"model.num_layers", "int(1,4)"},
              {"model.hidden_size", "choice(128,256,384)"},
              {"model.numeric_embedding_size", "choice(8,16,24)"}};
    case config::Recipe::kLinear:
      return {{"training.learning_rate", "log(1e-5,1e-2)"},
              {"training.optimizer.weight_decay", "log(0.001,1)"}};
    case config::Recipe::kPlain:
      break;
  }
  return {{"training.learning_rate", "log(3e-4,1e-2)"},
          {"training.optimizer.weight_decay", "log(0.001,0.3)"},
          {"model.dropout", "choice(0,0.1,0.3)"},
          {"model.num_layers", "int(1,4)"},
          {"model.hidden_size", "choice(64,128,256)"},
          {"model.numeric_embedding", "choice(none,piecewise_linear,periodic)"}};
}

}  // namespace

// Small tables of numbers gain most from longer runs, others nothing (docs/quality.md).
std::vector<SpaceKey> default_space(config::Recipe recipe, int64_t epochs) {
  std::vector<SpaceKey> space = space_of(recipe);
  space.push_back({"training.epochs", fmt::format("choice({},{},{},{})", (epochs + 1) / 2, epochs,
                                                  2 * epochs, 4 * epochs)});
  return space;
}

}  // namespace trainer::experiments
