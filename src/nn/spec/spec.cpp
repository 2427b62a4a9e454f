// SPDX-License-Identifier: Apache-2.0
#include "trainer/nn/spec/spec.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <numbers>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "trainer/base/text/format.h"

namespace trainer::network {
namespace {

constexpr Initializer kZeros{};
constexpr Initializer kOnes{.kind = Initializer::Kind::kConstant, .value = 1};

template <class... Visitors>
struct Overloaded : Visitors... {
  using Visitors::operator()...;
};
template <class... Visitors>
Overloaded(Visitors...) -> Overloaded<Visitors...>;  // needed by Clang up to version 16

template <class Norm>
std::vector<TensorSpec> norm_parameters(const Norm& norm) {
  return {{norm.name + ".weight", {norm.size}, kOnes}, {norm.name + ".bias", {norm.size}, kZeros}};
}

// Returns the shape with an additional first dimension for members, if there are several.
std::vector<int64_t> of_members(int64_t num_members, std::vector<int64_t> shape) {
  if (num_members > 1) shape.insert(shape.begin(), num_members);
  return shape;
}

std::vector<TensorSpec> periodic_parameters(const PeriodicEmbedding& p) {
  const auto num_features = static_cast<int64_t>(p.features.size());
  const Initializer phases{.kind = Initializer::Kind::kUniform, .value = std::numbers::pi};
  const Initializer linear{.kind = Initializer::Kind::kUniform,
                           .value = 1 / std::sqrt(static_cast<double>(p.num_frequencies))};
  return {{p.name + ".frequencies", {num_features, p.num_frequencies}, p.frequencies, Decay::kYes},
          {p.name + ".phases", {num_features, p.num_frequencies}, phases},
          {p.name + ".weight", {num_features, p.num_frequencies, p.size}, linear, Decay::kYes},
          {p.name + ".bias", {num_features, p.size}, linear}};
}

std::vector<TensorSpec> piecewise_parameters(const PiecewiseEmbedding& p) {
  const auto num_features = static_cast<int64_t>(p.features.size());
  const Initializer linear{.kind = Initializer::Kind::kUniform,
                           .value = 1 / std::sqrt(static_cast<double>(p.size))};
  return {{p.name + ".slope", {num_features, p.size}, linear},
          {p.name + ".weight", {num_features, p.num_bins, p.size}, kZeros, Decay::kYes},
          {p.name + ".bias", {num_features, p.size}, linear}};
}

template <class List>
std::vector<TensorSpec> collect(const NetworkSpec& network, const List& list) {
  std::vector<TensorSpec> all;
  for (const Layer& layer : network.layers) {
    std::vector<TensorSpec> some = list(layer);
    std::move(some.begin(), some.end(), std::back_inserter(all));
  }
  return all;
}

std::string members_text(int64_t num_members) {
  return num_members == 1 ? "" : fmt::format(" for each of {} members", num_members);
}

// Returns the text for a layer that follows a linear layer; empty if it has none.
std::string layer_text(const Layer& layer) {
  return std::visit(
      Overloaded{[](const BatchNorm&) { return std::string("batch norm"); },
                 [](const LayerNorm&) { return std::string("layer norm"); },
                 [](const Activation& a) {
                   return (a.is_parametric() ? "parametric " : "") + config::to_text(a.function);
                 },
                 [](const Dropout& d) { return "dropout " + shortest(d.probability); },
                 [](const ResidualEnd&) { return std::string("residual"); },
                 [](const auto&) { return std::string(); }},
      layer);
}

}  // namespace

int64_t TensorSpec::num_elements() const {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
}

std::vector<TensorSpec> parameters(const Layer& layer) {
  return std::visit(
      Overloaded{
          [](const Embeddings& embeddings) {
            std::vector<TensorSpec> tables;
            tables.reserve(embeddings.tables.size());
            for (const EmbeddingTable& t : embeddings.tables) {
              tables.push_back({t.name + ".weight", {t.num_rows, t.size}, t.weight});
            }
            return tables;
          },
          [](const PeriodicEmbedding& p) { return periodic_parameters(p); },
          [](const PiecewiseEmbedding& p) { return piecewise_parameters(p); },
          [](const InputScale& scale) {
            return std::vector<TensorSpec>{{scale.name + ".weight",
                                            of_members(scale.num_members, {scale.size}),
                                            scale.weight, Decay::kYes}};
          },
          [](const Activation& a) {
            if (!a.is_parametric()) return std::vector<TensorSpec>();
            return std::vector<TensorSpec>{{a.name + ".weight", {a.size}, kOnes, Decay::kYes}};
          },
          [](const Linear& l) {
            return std::vector<TensorSpec>{
                {l.name + ".weight", of_members(l.num_members, {l.num_outputs, l.num_inputs}),
                 l.weight, Decay::kYes, l.weight_factors},
                {l.name + ".bias", of_members(l.num_members, {l.num_outputs}), l.bias}};
          },
          [](const BatchNorm& norm) { return norm_parameters(norm); },
          [](const LayerNorm& norm) { return norm_parameters(norm); },
          [](const auto&) { return std::vector<TensorSpec>(); }},
      layer);
}

std::vector<TensorSpec> buffers(const Layer& layer) {
  if (const auto* p = std::get_if<PiecewiseEmbedding>(&layer)) {
    const Initializer quantiles{.kind = Initializer::Kind::kQuantiles};
    return {{p->name + ".edges", {std::ssize(p->features), p->num_bins + 1}, quantiles}};
  }
  if (const auto* members = std::get_if<MemberMean>(&layer)) {
    if (members->mean == Mean::kOfNumbers) return {};
    return {{members->name + ".scale", {1}, kOnes}};
  }
  const auto* norm = std::get_if<BatchNorm>(&layer);
  if (norm == nullptr) return {};
  return {{norm->name + ".running_mean", {norm->size}, kZeros},
          {norm->name + ".running_var", {norm->size}, kOnes}};
}

std::vector<TensorSpec> parameters(const NetworkSpec& network) {
  return collect(network, [](const Layer& layer) { return parameters(layer); });
}

std::vector<TensorSpec> buffers(const NetworkSpec& network) {
  return collect(network, [](const Layer& layer) { return buffers(layer); });
}

std::vector<TensorSpec> tensors(const NetworkSpec& network) {
  std::vector<TensorSpec> all = parameters(network);
  std::vector<TensorSpec> measured = buffers(network);
  std::move(measured.begin(), measured.end(), std::back_inserter(all));
  return all;
}

std::vector<TensorPosition> tensor_positions(const NetworkSpec& network) {
  std::vector<TensorPosition> positions;
  TensorPosition next;
  for (const Layer& layer : network.layers) {
    positions.push_back(next);
    next.parameter += parameters(layer).size();
    next.buffer += buffers(layer).size();
  }
  return positions;
}

std::vector<std::string> output_tensors(const NetworkSpec& network) {
  std::vector<std::string> names;
  for (const Layer& layer : network.layers) {
    if (const auto* linear = std::get_if<Linear>(&layer)) {
      names = {linear->name + ".weight", linear->name + ".bias"};
    }
    const auto* members = std::get_if<MemberMean>(&layer);
    if (members != nullptr && members->mean == Mean::kOfProbabilities) {
      names = {members->name + ".scale"};
    }
  }
  return names;
}

int64_t num_members(const NetworkSpec& network) {
  if (network.layers.empty()) return 1;
  const auto* members = std::get_if<MemberMean>(&network.layers.back());
  return members == nullptr ? 1 : members->num_members;
}

int64_t num_parameters(const NetworkSpec& network) {
  const std::vector<TensorSpec> all = parameters(network);
  return std::accumulate(
      all.begin(), all.end(), int64_t{0},
      [](int64_t sum, const TensorSpec& tensor) { return sum + tensor.num_elements(); });
}

std::vector<int64_t> widths(const NetworkSpec& network) {
  std::vector<int64_t> widths;
  for (const Layer& layer : network.layers) {
    const auto* linear = std::get_if<Linear>(&layer);
    if (linear == nullptr) continue;
    if (widths.empty()) widths.push_back(linear->num_inputs);
    widths.push_back(linear->num_outputs);
  }
  return widths;
}

std::string summary(const NetworkSpec& network) {
  std::vector<std::string> parts;
  std::vector<std::string> tables;
  for (const Layer& layer : network.layers) {
    const std::string text = layer_text(layer);
    if (!text.empty() && std::find(parts.begin(), parts.end(), text) == parts.end()) {
      parts.push_back(text);
    }
    if (const auto* embeddings = std::get_if<Embeddings>(&layer)) {
      for (const EmbeddingTable& table : embeddings->tables) {
        tables.push_back(fmt::format("{}x{}", table.num_rows, table.size));
      }
    }
  }
  std::string text = fmt::format("{}", fmt::join(widths(network), "-"));
  if (!parts.empty()) text += " " + fmt::format("{}", fmt::join(parts, ", "));
  if (!tables.empty()) text += ", embeddings " + joined(tables);
  for (const Layer& layer : network.layers) {
    if (const auto* periodic = std::get_if<PeriodicEmbedding>(&layer)) {
      text += fmt::format(", periodic embeddings {}x{}", periodic->features.size(), periodic->size);
    } else if (const auto* piecewise = std::get_if<PiecewiseEmbedding>(&layer)) {
      text += fmt::format(", piecewise-linear embeddings {}x{}", piecewise->features.size(),
                          piecewise->size);
    } else if (std::holds_alternative<InputScale>(layer)) {
      text += ", input scale";
    } else if (const auto* members = std::get_if<MemberMean>(&layer)) {
      text += fmt::format(", {} members", members->num_members);
    }
  }
  return text;
}

std::vector<std::string> layer_lines(const NetworkSpec& network) {
  std::vector<std::string> lines;
  for (const Layer& layer : network.layers) {
    if (const auto* linear = std::get_if<Linear>(&layer)) {
      lines.push_back(fmt::format("{}: {} -> {}{}", linear->name, linear->num_inputs,
                                  linear->num_outputs, members_text(linear->num_members)));
    } else if (const auto* periodic = std::get_if<PeriodicEmbedding>(&layer)) {
      lines.push_back(fmt::format("{}: periodic, {} of size {} with {} frequencies", periodic->name,
                                  periodic->features.size(), periodic->size,
                                  periodic->num_frequencies));
    } else if (const auto* piecewise = std::get_if<PiecewiseEmbedding>(&layer)) {
      lines.push_back(fmt::format("{}: piecewise linear, {} of size {} with {} bins",
                                  piecewise->name, piecewise->features.size(), piecewise->size,
                                  piecewise->num_bins));
    } else if (const auto* scale = std::get_if<InputScale>(&layer)) {
      lines.push_back(
          fmt::format("{}: {}{}", scale->name, scale->size, members_text(scale->num_members)));
    } else if (const std::string text = layer_text(layer); !text.empty()) {
      lines.back() += ", " + text;
    }
  }
  return lines;
}

}  // namespace trainer::network
