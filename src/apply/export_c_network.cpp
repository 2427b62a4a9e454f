// SPDX-License-Identifier: Apache-2.0
#include "apply/export_c_network.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "trainer/nn/spec/layers.h"
#include "trainer/nn/spec/mlp.h"

namespace trainer::apply {
namespace {

/// Adds the calls of each layer, and knows where its values are and how many.
class NetworkWriter {
 public:
  NetworkWriter(CSource& source, const Member& member, int64_t num_features)
      : c_(source), member_(member), num_features_(num_features) {}

  void operator()(const network::Embeddings& layer) {
    const char from = at_;
    swap(layer.num_numeric);
    c_.line("{}({}, {}, {});", c_.use("copy"), from, layer.num_numeric, at_);
    for (std::size_t i = 0; i < layer.tables.size(); ++i) {
      const network::EmbeddingTable& of = layer.tables[i];
      c_.line("{}({}[{}], {}, {}, {} + {});", c_.use("embed"), from,
              layer.num_numeric + static_cast<int64_t>(i), weight(of.name + ".weight"), of.size,
              at_, width_);
      width_ += of.size;
    }
    max_width_ = std::max(max_width_, width_);
  }

  void operator()(const network::PeriodicEmbedding& layer) {
    const auto of = [&](const char* part) { return weight(layer.name + part); };
    const std::string frequencies = of(".frequencies");
    const std::string phases = of(".phases");
    const std::string weights = of(".weight");
    append(std::ssize(layer.features) * layer.size, layer.features,
           fmt::format("{}({}, {}, {}, {}, {}, {}", c_.use("periodic"), frequencies, phases,
                       layer.num_frequencies, weights, of(".bias"), layer.size));
  }

  void operator()(const network::PiecewiseEmbedding& layer) {
    const network::Bins bins =
        network::make_bins(layer, weight_values(member_, layer.name + ".edges"));
    std::vector<float> all;
    for (std::size_t i = 0; i < bins.left.size(); ++i) {
      all.insert(all.end(), {bins.left[i], bins.inverse_width[i], bins.low[i], bins.high[i]});
    }
    const auto of = [&](const char* part) { return weight(layer.name + part); };
    const std::string edges = c_.floats(all);
    const std::string slope = of(".slope");
    const std::string bias = of(".bias");
    append(std::ssize(layer.features) * layer.size, layer.features,
           fmt::format("{}({}, {}, {}, {}, {}, {}", c_.use("piecewise"), edges, layer.num_bins,
                       slope, bias, of(".weight"), layer.size));
  }

  // With several members, begins a loop over them, which MemberMean ends.
  void operator()(const network::InputScale& layer) {
    const std::string weights = weight(layer.name + ".weight");
    if (layer.num_members == 1) {
      c_.line("{0}({1}, {2}, {3}, {1});", c_.use("multiply"), at_, width_, weights);
      return;
    }
    c_.line("{}({}, {}, c);", c_.use("copy"), at_, width_);
    buffers_.insert('c');
    loop_members_ = layer.num_members;
    index_ = "m * ";
    c_.line("for (m = 0; m < {}; m++) {{", layer.num_members);
    c_.line("{}(c, {}, {} + m * {}, {});", c_.use("multiply"), width_, weights, width_, at_);
  }

  void operator()(const network::Linear& layer) {
    const std::span<const float> values = weight_values(member_, layer.name + ".weight");
    const auto inputs = static_cast<std::size_t>(layer.num_inputs);
    const auto outputs = static_cast<std::size_t>(layer.num_outputs);
    std::vector<float> turned;  // the weights of an input next to each other
    turned.reserve(values.size());
    for (std::size_t begin = 0; begin < values.size(); begin += inputs * outputs) {
      for (std::size_t i = 0; i < inputs; ++i) {
        for (std::size_t o = 0; o < outputs; ++o) turned.push_back(values[begin + o * inputs + i]);
      }
    }
    const auto of_member = [&](std::size_t size) {
      return layer.num_members == 1 ? "" : fmt::format(" + {}{}", index_, size);
    };
    const char from = at_;
    swap(layer.num_outputs);
    const std::string weights = c_.floats(turned);
    c_.line("{}({}, {}, {}{}, {}{}, {}, {});", c_.use("linear"), from, inputs, weights,
            of_member(inputs * outputs), weight(layer.name + ".bias"), of_member(outputs), outputs,
            at_);
  }

  void operator()(const network::BatchNorm& layer) {
    std::vector<std::string> names;
    for (const char* part : {".weight", ".bias", ".running_mean", ".running_var"}) {
      names.push_back(weight(layer.name + part));
    }
    c_.line("{}({}, {}, {});", c_.use("batch_norm"), at_, width_, fmt::join(names, ", "));
  }

  void operator()(const network::LayerNorm& layer) {
    const std::string weights = weight(layer.name + ".weight");
    c_.line("{}({}, {}, {}, {});", c_.use("layer_norm"), at_, width_, weights,
            weight(layer.name + ".bias"));
  }

  void operator()(const network::Activation& layer) {
    const std::string function = config::to_text(layer.function);
    if (layer.function != config::Activation::kTanh) c_.use(function.c_str());
    c_.line("{}({}, {}, {}, {});", c_.use("activate"), at_, width_, function,
            layer.is_parametric() ? weight(layer.name + ".weight") : "NULL");
  }

  void operator()(const network::Dropout& /*layer*/) {}

  void operator()(const network::ResidualBegin& /*layer*/) {
    buffers_.insert('r');
    c_.line("{}({}, {}, r);", c_.use("copy"), at_, width_);
  }

  void operator()(const network::ResidualEnd& /*layer*/) {
    c_.line("{}({}, {}, r);", c_.use("add"), at_, width_);
  }

  void operator()(const network::MemberMean& layer) {
    c_.line("{}({}, {}, scores + m * {});", c_.use("copy"), at_, width_, width_);
    c_.line("}}");
    const bool of_numbers = layer.mean == network::Mean::kOfNumbers;
    c_.line("{}(scores, {}, {}, NULL, {});", c_.use(of_numbers ? "mean" : "log_mean"),
            layer.num_members, width_, at_);
    index_.clear();
    if (of_numbers) return;
    c_.line("{}({}, {}, {});", c_.use("times"), at_, width_,
            c_literal(static_cast<double>(weight_values(member_, layer.name + ".scale").front())));
  }

  /// Returns the whole function, whose body are the calls of the layers that were added.
  std::string function(std::string_view name, int64_t num_outputs) {
    c_.line("{}({}, {}, y);", c_.use("copy"), at_, width_);
    std::string code = fmt::format("static void {}(const double *x, double *y) {{\n", name);
    for (const char buffer : buffers_) {
      code += fmt::format("  double {}[{}];\n", buffer, max_width_);
    }
    if (loop_members_ > 0) {
      code += fmt::format("  double scores[{}];\n  int m;\n", loop_members_ * num_outputs);
    }
    return code + fmt::format("  copy(x, {}, a);\n{}}}\n\n", num_features_, c_.body);
  }

 private:
  CSource& c_;
  const Member& member_;
  int64_t num_features_;
  char at_ = 'a';  // the buffer with the values
  int64_t width_ = num_features_;
  int64_t max_width_ = num_features_;
  std::set<char> buffers_ = {'a'};
  std::string index_;  // "m * " within the loop over members
  int64_t loop_members_ = 0;

  void swap(int64_t width) {
    at_ = at_ == 'a' ? 'b' : 'a';
    width_ = width;
    max_width_ = std::max(max_width_, width);
    buffers_.insert(at_);
  }

  // Adds a call that appends `count` values to those that there are.
  void append(int64_t count, const std::vector<int64_t>& features, std::string_view call) {
    const std::string chosen = c_.table("int", features);
    c_.line("{0}({1}, {2}, {3}, {4}, {1} + {5});", call.substr(0, call.find('(')), at_, chosen,
            features.size(), call.substr(call.find('(') + 1), width_);
    width_ += count;
    max_width_ = std::max(max_width_, width_);
  }

  std::string weight(const std::string& name) { return c_.floats(weight_values(member_, name)); }
};

}  // namespace

void add_network(CSource& source, const Member& member, std::string_view name, int64_t num_features,
                 int64_t num_outputs) {
  source.body.clear();
  NetworkWriter writer(source, member, num_features);
  for (const network::Layer& layer : member.network.layers) std::visit(writer, layer);
  source.code += writer.function(name, num_outputs);
}

}  // namespace trainer::apply
