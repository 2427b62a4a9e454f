// SPDX-License-Identifier: Apache-2.0
// Writes a model as one C99 file. What is computed is what apply::Predictor computes; the network
// is a list of calls of the functions in export_c.c, and the weights are tables.
#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "trainer/apply/cell_texts.h"
#include "trainer/apply/export.h"
#include "trainer/base/error.h"
#include "trainer/base/io/atomic_file.h"
#include "trainer/base/text/format.h"
#include "trainer/base/text/parse.h"
#include "trainer/base/version.h"
#include "trainer/nn/spec/layers.h"
#include "trainer/nn/spec/mlp.h"
#include "trainer/table/schema/quantiles.h"

#include "apply/export_c_functions.h"

namespace trainer::apply {
namespace {

using data::Column;
using data::ColumnKind;

constexpr std::size_t kMaxText = 4095;  // characters of a text that every C99 compiler accepts

/// A literal of any bytes; octal numbers of three digits end by themselves, unlike others.
std::string c_text(std::string_view text) {
  std::string literal = "\"";
  for (const char c : text) {
    if (c < ' ' || c > '~') {
      literal += fmt::format("\\{:03o}", static_cast<unsigned char>(c));
      continue;
    }
    if (c == '"' || c == '\\' || c == '?') literal += '\\';
    literal += c;
  }
  return literal + '"';
}

/// Text within a comment, which it cannot end.
std::string c_comment(std::string_view text) {
  std::string comment;
  for (const char c : text) {
    const bool is_plain = static_cast<unsigned char>(c) >= ' ' && c != 127 && c != '\\' && c != '?';
    const bool joins = !comment.empty() &&
                       ((comment.back() == '*' && c == '/') || (comment.back() == '/' && c == '*'));
    if (joins) comment += ' ';
    comment += is_plain ? c : '.';
  }
  return comment;
}

/// Letters, digits and _ of a text, not beginning with a digit or _, and no word of C or C++.
std::string identifier(std::string_view text) {
  static const std::set<std::string> kWords = {
      "EOF",       "INFINITY", "NAN",         "NULL",     "alignas",  "alignof",  "and",
      "asm",       "auto",     "bitand",      "bitor",    "bool",     "break",    "case",
      "catch",     "char",     "class",       "compl",    "const",    "continue", "default",
      "delete",    "do",       "double",      "else",     "enum",     "errno",    "explicit",
      "export",    "extern",   "false",       "float",    "for",      "friend",   "goto",
      "i386",      "if",       "inline",      "int",      "linux",    "long",     "mutable",
      "namespace", "new",      "not",         "nullptr",  "operator", "or",       "private",
      "protected", "public",   "register",    "restrict", "return",   "short",    "signed",
      "sizeof",    "static",   "stderr",      "stdin",    "stdout",   "struct",   "switch",
      "template",  "this",     "throw",       "true",     "try",      "typedef",  "typeid",
      "typename",  "typeof",   "union",       "unix",     "unsigned", "using",    "virtual",
      "void",      "volatile", "while",       "xor",      "concept",  "requires", "constexpr",
      "decltype",  "noexcept", "thread_local"};
  std::string name;
  for (const char c : text) name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  if (name.empty() || std::isalpha(static_cast<unsigned char>(name.front())) == 0)
    name = "c" + name;
  return kWords.contains(name) ? name + "_" : name;
}

/// The shortest number that a C compiler reads as this float.
std::string c_number(float value) {
  std::string text = fmt::format("{}", value);
  if (static_cast<float>(parse_double(text).value_or(0)) != value)
    text = fmt::format("{:.9e}", value);
  if (text.starts_with("0.")) return text.substr(1);
  return text.starts_with("-0.") ? "-" + text.substr(2) : text;
}

std::string c_number(double value) { return shortest(value); }
std::string c_number(int64_t value) { return std::to_string(value); }
std::string c_number(const std::string& text) { return c_text(text); }

/// Adds code to a file, and remembers which functions it calls.
class Writer {
 public:
  explicit Writer(const Model& model, std::string name) : model_(model), name_(std::move(name)) {}

  std::string file();

 private:
  const Model& model_;
  std::string name_;                          // before all names of the file
  std::set<std::string, std::less<>> calls_;  // sections of export_c.c
  std::string tables_;
  int num_tables_ = 0;
  std::vector<float> weights_;  // of all calls, in the order of the table
  std::string code_;
  // Of the network that is written: where its values are, how many, and the size of its buffers.
  char at_ = 'a';
  int64_t width_ = 0;
  int64_t max_width_ = 0;
  std::string body_;
  std::set<char> buffers_;
  std::string member_;  // "m * " within the loop over members
  int64_t loop_members_ = 0;

  void swap(int64_t width) {
    at_ = at_ == 'a' ? 'b' : 'a';
    width_ = width;
    max_width_ = std::max(max_width_, width);
    buffers_.insert(at_);
  }

  const char* use(const char* section) {
    calls_.insert(section);
    return section;
  }

  template <class Values>
  std::string table(const char* type, const Values& values) {
    const std::string name = fmt::format("table{}", num_tables_++);
    tables_ += fmt::format("static const {} {}[{}] = {{", type, name, values.size());
    std::size_t column = kLine;
    for (const auto& value : values) {
      const std::string text = c_number(value);
      column += text.size() + 1;
      if (column > kLine) {
        tables_ += '\n';
        column = text.size() + 1;
      }
      tables_ += text + ",";
    }
    tables_.back() = '}';
    tables_ += ";\n";
    return name;
  }
  // Returns where these values will be in the table of weights.
  std::string floats(std::span<const float> values) {
    const std::size_t begin = weights_.size();
    weights_.insert(weights_.end(), values.begin(), values.end());
    return fmt::format("weights + {}", begin);
  }
  std::string packed_weights() const;

  template <class... Arguments>
  void line(fmt::format_string<Arguments...> text, Arguments&&... arguments) {
    body_ += "  " + fmt::format(text, std::forward<Arguments>(arguments)...) + "\n";
  }

  std::string weight(const Member& member, const std::string& name) {
    return floats(weight_values(member, name));
  }
  void add(const Member& member, const network::Embeddings& layer);
  void add(const Member& member, const network::PeriodicEmbedding& layer);
  void add(const Member& member, const network::PiecewiseEmbedding& layer);
  void add(const Member& member, const network::InputScale& layer);
  void add(const Member& member, const network::Linear& layer);
  void add(const Member& member, const network::BatchNorm& layer);
  void add(const Member& member, const network::LayerNorm& layer);
  void add(const Member& member, const network::Activation& layer);
  void add(const Member& /*member*/, const network::Dropout& /*layer*/) {}
  void add(const Member& member, const network::ResidualBegin& layer);
  void add(const Member& member, const network::ResidualEnd& layer);
  void add(const Member& member, const network::MemberMean& layer);
  void append(int64_t count, const std::vector<int64_t>& features, std::string_view call);
  void add_network(std::size_t index);
  void add_scores();
  void add_outputs();
  void add_features();
  void add_class();
  std::string add_row();
  void add_numeric(const Column& column, const std::string& cell, std::size_t index, int64_t first,
                   const std::string& codes);
  void add_categorical(const Column& column, const std::string& cell, std::size_t index,
                       int64_t first, const MissingValues& missing);
  std::string comment() const;
  std::string functions() const;

  static constexpr std::size_t kLine = 98;
};

void Writer::add(const Member& member, const network::Embeddings& layer) {
  const char from = at_;
  swap(layer.num_numeric);
  line("{}({}, {}, {});", use("copy"), from, layer.num_numeric, at_);
  for (std::size_t i = 0; i < layer.tables.size(); ++i) {
    const network::EmbeddingTable& of = layer.tables[i];
    line("{}({}[{}], {}, {}, {} + {});", use("embed"), from,
         layer.num_numeric + static_cast<int64_t>(i), weight(member, of.name + ".weight"), of.size,
         at_, width_);
    width_ += of.size;
  }
  max_width_ = std::max(max_width_, width_);
}

// Adds a call that appends `count` values to those that there are.
void Writer::append(int64_t count, const std::vector<int64_t>& features, std::string_view call) {
  const std::string chosen = table("int", features);
  line("{0}({1}, {2}, {3}, {4}, {1} + {5});", call.substr(0, call.find('(')), at_, chosen,
       features.size(), call.substr(call.find('(') + 1), width_);
  width_ += count;
  max_width_ = std::max(max_width_, width_);
}

void Writer::add(const Member& member, const network::PeriodicEmbedding& layer) {
  const auto of = [&](const char* part) { return weight(member, layer.name + part); };
  const std::string frequencies = of(".frequencies");
  const std::string phases = of(".phases");
  const std::string weights = of(".weight");
  append(std::ssize(layer.features) * layer.size, layer.features,
         fmt::format("{}({}, {}, {}, {}, {}, {}", use("periodic"), frequencies, phases,
                     layer.num_frequencies, weights, of(".bias"), layer.size));
}

void Writer::add(const Member& member, const network::PiecewiseEmbedding& layer) {
  const network::Bins bins =
      network::make_bins(layer, weight_values(member, layer.name + ".edges"));
  std::vector<float> all;
  for (std::size_t i = 0; i < bins.left.size(); ++i) {
    all.insert(all.end(), {bins.left[i], bins.inverse_width[i], bins.low[i], bins.high[i]});
  }
  const auto of = [&](const char* part) { return weight(member, layer.name + part); };
  const std::string edges = floats(all);
  const std::string slope = of(".slope");
  const std::string bias = of(".bias");
  append(std::ssize(layer.features) * layer.size, layer.features,
         fmt::format("{}({}, {}, {}, {}, {}, {}", use("piecewise"), edges, layer.num_bins, slope,
                     bias, of(".weight"), layer.size));
}

// With several members, begins a loop over them, which MemberMean ends.
void Writer::add(const Member& member, const network::InputScale& layer) {
  const std::string weights = weight(member, layer.name + ".weight");
  if (layer.num_members == 1) {
    line("{0}({1}, {2}, {3}, {1});", use("multiply"), at_, width_, weights);
    return;
  }
  line("{}({}, {}, c);", use("copy"), at_, width_);
  buffers_.insert('c');
  loop_members_ = layer.num_members;
  member_ = "m * ";
  line("for (m = 0; m < {}; m++) {{", layer.num_members);
  line("{}(c, {}, {} + m * {}, {});", use("multiply"), width_, weights, width_, at_);
}

void Writer::add(const Member& member, const network::Linear& layer) {
  const std::span<const float> values = weight_values(member, layer.name + ".weight");
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
    return layer.num_members == 1 ? "" : fmt::format(" + {}{}", member_, size);
  };
  const char from = at_;
  swap(layer.num_outputs);
  const std::string weights = floats(turned);
  line("{}({}, {}, {}{}, {}{}, {}, {});", use("linear"), from, inputs, weights,
       of_member(inputs * outputs), weight(member, layer.name + ".bias"), of_member(outputs),
       outputs, at_);
}

void Writer::add(const Member& member, const network::BatchNorm& layer) {
  std::vector<std::string> names;
  for (const char* part : {".weight", ".bias", ".running_mean", ".running_var"}) {
    names.push_back(weight(member, layer.name + part));
  }
  line("{}({}, {}, {});", use("batch_norm"), at_, width_, fmt::join(names, ", "));
}

void Writer::add(const Member& member, const network::LayerNorm& layer) {
  const std::string weights = weight(member, layer.name + ".weight");
  line("{}({}, {}, {}, {});", use("layer_norm"), at_, width_, weights,
       weight(member, layer.name + ".bias"));
}

void Writer::add(const Member& member, const network::Activation& layer) {
  const std::string function = config::to_text(layer.function);
  if (layer.function != config::Activation::kTanh) calls_.insert(function);
  line("{}({}, {}, {}, {});", use("activate"), at_, width_, function,
       layer.is_parametric() ? weight(member, layer.name + ".weight") : "NULL");
}

void Writer::add(const Member& /*member*/, const network::ResidualBegin& /*layer*/) {
  buffers_.insert('r');
  line("{}({}, {}, r);", use("copy"), at_, width_);
}

void Writer::add(const Member& /*member*/, const network::ResidualEnd& /*layer*/) {
  line("{}({}, {}, r);", use("add"), at_, width_);
}

void Writer::add(const Member& member, const network::MemberMean& layer) {
  line("{}({}, {}, scores + m * {});", use("copy"), at_, width_, width_);
  line("}}");
  const bool of_numbers = layer.mean == network::Mean::kOfNumbers;
  line("{}(scores, {}, {}, NULL, {});", use(of_numbers ? "mean" : "log_mean"), layer.num_members,
       width_, at_);
  member_.clear();
  if (of_numbers) return;
  line("{}({}, {}, {});", use("times"), at_, width_,
       c_number(static_cast<double>(weight_values(member, layer.name + ".scale").front())));
}

void Writer::add_network(std::size_t index) {
  const Member& member = model_.members[index];
  at_ = 'a';
  width_ = max_width_ = model_.schema.num_features();
  body_.clear();
  buffers_ = {'a'};
  loop_members_ = 0;
  for (const network::Layer& layer : member.network.layers) {
    std::visit([&](const auto& kind) { add(member, kind); }, layer);
  }
  line("{}({}, {}, y);", use("copy"), at_, width_);
  code_ += fmt::format("static void network{}(const double *x, double *y) {{\n", index);
  for (const char buffer : buffers_) code_ += fmt::format("  double {}[{}];\n", buffer, max_width_);
  if (loop_members_ > 0) {
    code_ += fmt::format("  double scores[{}];\n  int m;\n", loop_members_ * model_.num_outputs());
  }
  code_ += fmt::format("  copy(x, {}, a);\n{}}}\n\n", model_.schema.num_features(), body_);
}

// The outputs of all members together for features without their offsets.
void Writer::add_scores() {
  for (std::size_t i = 0; i < model_.members.size(); ++i) add_network(i);
  const data::Schema& schema = model_.schema;
  const int64_t width = model_.num_outputs();
  body_.clear();
  const std::string shift = floats(schema.scaling.shift);
  line("{}(x, {}, {}, {}, z);", use("scale"), schema.num_features(), shift,
       floats(schema.scaling.scale));
  if (!schema.scaling.inverse_limit.empty()) {
    line("{}(z, {}, {});", use("smooth_clip"), schema.num_features(),
         floats(schema.scaling.inverse_limit));
  }
  std::string low;
  std::string high;
  if (!schema.target_low.empty()) {
    low = floats(schema.target_low);
    high = floats(schema.target_high);
  }
  for (std::size_t i = 0; i < model_.members.size(); ++i) {
    const std::string to = fmt::format("all + {}", static_cast<int64_t>(i) * width);
    line("network{}(z, {});", i, to);
    if (!low.empty()) line("{}({}, {}, {}, {});", use("limit"), to, width, low, high);
  }
  if (model_.is_ensemble()) {
    const bool of_numbers = schema.task == config::Task::kRegression;
    line("{}(all, {}, {}, {}, scores);", use(of_numbers ? "mean" : "log_mean"),
         model_.members.size(), width,
         model_.weights.empty() ? "NULL" : table("double", model_.weights));
  } else {
    line("{}(all, {}, scores);", use("copy"), width);
  }
  add_outputs();
  code_ += fmt::format(
      "static void predict(const float *x, double *outputs) {{\n  double z[{}], all[{}], "
      "scores[{}];\n{}}}\n\n",
      schema.num_features(), std::ssize(model_.members) * width, width, body_);
}

void Writer::add_outputs() {
  const data::Schema& schema = model_.schema;
  if (schema.task == config::Task::kRegression) {
    std::vector<double> offset;
    offset.reserve(schema.target_names.size());
    for (std::size_t i = 0; i < schema.target_names.size(); ++i) {
      offset.push_back(schema.target_scaling.offset_of(i));
    }
    const std::string shift = floats(schema.target_scaling.shift);
    const std::string scale = floats(schema.target_scaling.scale);
    line("{}(scores, {}, {}, {}, {}, outputs);", use("unscale"), model_.num_outputs(), shift, scale,
         table("double", offset));
  } else if (model_.num_outputs() == 1) {
    line("{}(scores, outputs);", use("sigmoid"));
  } else {
    line("{}(scores, {}, outputs);", use("softmax"), model_.num_outputs());
  }
}

void Writer::add_features() {
  const data::Schema& schema = model_.schema;
  body_.clear();
  line("{}();", use("unpack"));
  const FeatureLimits limits = feature_limits(schema);
  const std::string offset =
      takes_doubles(schema) ? " - " + table("double", schema.scaling.offset) + "[i]" : "";
  line("for (i = 0; i < {}; i++) {{", schema.num_features());
  line("  x[i] = (float)(features[i]{});", offset);
  if (!limits.low.empty()) {
    const std::string low = floats(limits.low);
    line("  x[i] = {}(x[i], ({})[i], ({})[i]);", use("limited"), low, floats(limits.high));
  }
  line("}}");
  code_ += fmt::format(
      "void {}_predict_features(const double *features, double *outputs) {{\n"
      "  float x[{}];\n  int i;\n{}  predict(x, outputs);\n}}\n",
      name_, schema.num_features(), body_);
}

void Writer::add_class() {
  const std::size_t count = model_.schema.labels.size();
  if (count == 0) return;
  code_ += fmt::format("\nint {}_class(const double *outputs) {{\n", name_);
  if (count == 2) {
    code_ += fmt::format("  return outputs[1] > {};\n}}\n", shortest(model_.threshold));
  } else {
    code_ += fmt::format(
        "  int i, best = 0;\n  for (i = 1; i < {}; i++) {{\n"
        "    if (outputs[i] > outputs[best]) best = i;\n  }}\n  return best;\n}}\n",
        count);
  }
}

void Writer::add_numeric(const Column& column, const std::string& cell, std::size_t index,
                         int64_t first, const std::string& codes) {
  line("v = {}({}, {}, {});", use("cell"), cell, shortest(column.offset), codes);
  if (column.has_missing_indicator) line("x[{}] = isnan(v) ? 1.0f : 0.0f;", first + 1);
  if (column.limits) {
    line("v = {}(v, {}, {});", use("limited"), c_number(column.limits->low),
         c_number(column.limits->high));
  }
  if (column.fill) {
    line("if (isnan(v)) v = (float){};", c_number(*column.fill));
  } else {
    line("if (isnan(v)) return {};", index + 1);
  }
  if (!column.quantiles.empty()) {
    const std::span<const double> scores =
        data::rank_scores(column.quantiles.size(), column.quantile_score);
    const std::string quantiles = floats(column.quantiles);
    line("v = {}(v, {}, {}, {});", use("quantile"), quantiles, table("double", scores),
         column.quantiles.size());
  }
  line("x[{}] = v;", first);
}

void Writer::add_categorical(const Column& column, const std::string& cell, std::size_t index,
                             int64_t first, const MissingValues& missing) {
  const CellTexts known = cell_texts(column, missing);
  std::map<std::string, int64_t> number_of_text;  // in the order of strcmp()
  for (std::size_t i = 0; i < known.texts.size(); ++i) {
    number_of_text.emplace(known.texts[i], known.numbers[i]);
  }
  std::vector<std::string> texts;
  std::vector<int64_t> numbers;
  for (const auto& [text, number] : number_of_text) {
    texts.push_back(text);
    numbers.push_back(number);
  }
  const std::string names = table("char *const", texts);
  line("k = {}({}, {}, {}, {});", use("category"), cell, names, table("int", numbers),
       texts.size());
  if (model_.schema.unknown_category == config::UnknownCategory::kError) {
    line("if (k < 0) return {};", index + 1);
  }
  if (data::is_embedded(column)) {
    line("x[{}] = (float)(k < 0 ? {} : k);", first, column.categories.size());
  } else if (column.is_sign) {
    line("x[{}] = k == 0 ? -1.0f : k == 1 ? 1.0f : 0.0f;", first);
  } else {
    line("if (k >= 0) x[{} + k] = 1;", first);
  }
}

// Adds the function of a row; returns the members of its struct.
std::string Writer::add_row() {
  const data::Schema& schema = model_.schema;
  const MissingValues missing = missing_values(schema);
  const std::vector<int64_t> first = data::first_features(schema.columns);
  const std::string codes =
      missing.numbers.empty()
          ? "NULL, 0"
          : fmt::format("{}, {}", table("double", missing.numbers), missing.numbers.size());
  std::string fields;
  std::set<std::string> names;
  bool has_numbers = false;
  bool has_texts = false;
  body_.clear();
  line("{}();", use("unpack"));
  for (std::size_t i = 0; i < schema.columns.size(); ++i) {
    const Column& column = schema.columns[i];
    if (!data::is_feature(column)) continue;
    std::string name = identifier(column.name);
    for (int n = 2; !names.insert(name).second; ++n) {
      name = fmt::format("{}_{}", identifier(column.name), n);
    }
    const bool is_number = column.kind == ColumnKind::kNumeric;
    fields += fmt::format("  {}{}; /* {}: {}{} */\n", is_number ? "double " : "const char *", name,
                          i + 1, c_comment(in_quotes(column.name)),
                          column.source.empty() ? "" : ", a part of the date as a number");
    (is_number ? has_numbers : has_texts) = true;
    if (is_number) {
      add_numeric(column, "row->" + name, i, first[i], codes);
    } else {
      add_categorical(column, "row->" + name, i, first[i], missing);
    }
  }
  code_ += fmt::format(
      "\nint {0}_predict(const {0}_row *row, double *outputs) {{\n  float x[{1}] = {{0}};\n{2}{3}"
      "{4}  predict(x, outputs);\n  return 0;\n}}\n",
      name_, schema.num_features(), has_numbers ? "  float v;\n" : "",
      has_texts ? "  int k;\n" : "", body_);
  return fields;
}

// The bits of each weight as five digits to the base 85: half of what decimals take.
std::string Writer::packed_weights() const {
  constexpr std::size_t kInLine = 19;
  std::string lines;
  for (std::size_t begin = 0; begin < weights_.size(); begin += kInLine) {
    std::string line;
    for (std::size_t i = begin; i < std::min(begin + kInLine, weights_.size()); ++i) {
      auto bits = std::bit_cast<uint32_t>(weights_[i]);
      std::array<char, 5> digits{};
      for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit, bits /= 85) {
        *digit = static_cast<char>('#' + bits % 85);
      }
      line.append(digits.begin(), digits.end());
    }
    lines += c_text(line) + ",\n";
  }
  return fmt::format("static float weights[{}];\nstatic const char packed[][{}] = {{\n{}}};\n",
                     weights_.size(), 5 * kInLine + 1, lines);
}

std::string Writer::functions() const {
  constexpr std::string_view kMark = "/* section: ";
  const std::string_view all = export_c_functions();
  std::string used;
  for (std::size_t at = all.find(kMark); at != std::string_view::npos;) {
    const std::size_t end = all.find(" */\n", at);
    const std::size_t next = all.find(kMark, end);
    const std::string_view name = all.substr(at + kMark.size(), end - at - kMark.size());
    if (calls_.contains(name)) {
      used += all.substr(end + 4, next == std::string_view::npos ? next : next - end - 4);
      if (used.back() == '\n' && !used.ends_with("\n\n")) used += '\n';
    }
    at = next;
  }
  return used;
}

std::string Writer::comment() const {
  const data::Schema& schema = model_.schema;
  const bool has_classes = !schema.labels.empty();
  std::string text = fmt::format(
      "/* Made by trainer {} from {}, {}. Needs C99 and its library (-lm); allocates nothing.\n\n",
      c_comment(build_info().version), c_comment(model_.file.filename().string()),
      epoch_text(model_));
  if (!schema.columns.empty()) {
    text += fmt::format(
        "   {0}_predict() computes the outputs of one row of the table. Numbers are those of the\n"
        "   file without their unit, NAN where missing; texts are NULL or \"\" where missing. "
        "Returns\n"
        "   0, or the number of the first column with a cell that the model does not accept (a\n"
        "   missing number or an unknown category); the outputs are then not set.\n",
        name_);
  }
  text += fmt::format(
      "   {0}_predict_features() takes {1} features as trainer encodes them, not scaled.\n"
      "   The outputs are {2}.\n",
      name_, schema.num_features(),
      has_classes ? "the probabilities of " + name_ + "_classes, of which " + name_ +
                        "_class() is the number of the predicted one"
                  : "the predictions of " + name_ + "_targets, in the units of the data");
  if (model_.conformal) {
    text +=
        has_classes
            ? fmt::format(
                  "   The set has each class whose probability is at least the smaller "
                  "of\n   {0}_bounds[0] and that of the predicted class.\n",
                  name_)
            : fmt::format("   The interval of target i is outputs[i] -+ {}_bounds[i].\n", name_);
  }
  return text +
         fmt::format("   #define {0}_DECLARATIONS before including this file as a header. */\n\n",
                     name_);
}

std::string Writer::file() {
  const data::Schema& schema = model_.schema;
  const bool has_classes = !schema.labels.empty();
  const std::vector<std::string>& names = has_classes ? schema.labels : schema.target_names;
  const std::string list = fmt::format("{}_{}", name_, has_classes ? "classes" : "targets");
  add_scores();
  add_features();
  const std::string fields = schema.columns.empty() ? "" : add_row();
  add_class();
  std::string text = comment() +
                     "#include <math.h>\n#include <stddef.h>\n#include <stdint.h>\n"
                     "#include <string.h>\n\n";
  text += fmt::format("#define {0}_NUM_FEATURES {1}\n#define {0}_NUM_OUTPUTS {2}\n\n", name_,
                      schema.num_features(), names.size());
  if (!fields.empty()) {
    text += fmt::format("typedef struct {{\n{0}}} {1}_row;\n\n", fields, name_);
    text += fmt::format("int {0}_predict(const {0}_row *row, double *outputs);\n", name_);
  }
  text +=
      fmt::format("void {}_predict_features(const double *features, double *outputs);\n", name_);
  if (has_classes) text += fmt::format("int {}_class(const double *outputs);\n", name_);
  text += fmt::format("extern const char *const {}[{}];\n", list, names.size());
  std::vector<std::string> literals;
  literals.reserve(names.size());
  for (const std::string& name : names) literals.push_back(c_text(name));
  std::string values = fmt::format("const char *const {}[{}] = {{\n  {}}};\n", list, names.size(),
                                   fmt::join(literals, ",\n  "));
  if (model_.conformal) {
    const std::vector<double>& bounds = model_.conformal->bounds;
    text += fmt::format("extern const double {}_bounds[{}];\n", name_, bounds.size());
    values += fmt::format("const double {}_bounds[{}] = {{{}}};\n", name_, bounds.size(),
                          fmt::join(bounds, ", "));
  }
  return text + fmt::format("\n#ifndef {}_DECLARATIONS\n\n", name_) + values + "\n" + tables_ +
         packed_weights() + "\n" + functions() + code_ + fmt::format("\n#endif\n");
}

void check_text(const Model& model, std::string_view what, const std::string& text) {
  if (text.find('\0') == std::string::npos && text.size() <= kMaxText) return;
  throw Error(ErrorKind::kRuntime,
              fmt::format("{}: {} {} cannot be a text of C99: expected at most {} bytes without a "
                          "zero byte; use --format onnx",
                          model.file.string(), what, in_quotes(text.substr(0, 40)), kMaxText));
}

void check(const Model& model) {
  check_num_weights(model, "a C file");
  for (const std::string& label : model.schema.labels) check_text(model, "the class", label);
  for (const std::string& name : model.schema.target_names) check_text(model, "the target", name);
  for (const Column& column : model.schema.columns) {
    for (const std::string& text : column.categories) check_text(model, "the category", text);
  }
}

}  // namespace

ExportReport export_c(const Model& model, const std::filesystem::path& path) {
  check(model);
  const std::string text = Writer(model, identifier(path.stem().string())).file();
  write_file_atomically(path, text);
  return {.format = "C99", .inputs = {}, .outputs = {}, .checked = {}};
}

}  // namespace trainer::apply
