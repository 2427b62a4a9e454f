// SPDX-License-Identifier: Apache-2.0
// Writes a model as one C99 file. What is computed is what apply::Predictor computes; the network
// is a list of calls of the functions in export_c.c, and the weights are a table.
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "trainer/apply/cell_texts.h"
#include "trainer/apply/export.h"
#include "trainer/base/error.h"
#include "trainer/base/io/atomic_file.h"
#include "trainer/base/text/format.h"
#include "trainer/base/version.h"
#include "trainer/table/schema/quantiles.h"

#include "apply/export_c_network.h"
#include "apply/export_c_source.h"

namespace trainer::apply {
namespace {

using data::Column;
using data::ColumnKind;

constexpr std::size_t kMaxText = 4095;  // characters of a text that every C99 compiler accepts

/// Adds the functions of a model.
class Writer {
 public:
  Writer(const Model& model, std::string name) : model_(model), name_(std::move(name)) {}

  std::string file();

 private:
  const Model& model_;
  std::string name_;  // before all names of the file
  CSource c_;

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
};

// The outputs of all members together for features without their offsets.
void Writer::add_scores() {
  const data::Schema& schema = model_.schema;
  const int64_t width = model_.num_outputs();
  for (std::size_t i = 0; i < model_.members.size(); ++i) {
    add_network(c_, model_.members[i], fmt::format("network{}", i), schema.num_features(), width);
  }
  c_.body.clear();
  const std::string shift = c_.floats(schema.scaling.shift);
  c_.line("{}(x, {}, {}, {}, z);", c_.use("scale"), schema.num_features(), shift,
          c_.floats(schema.scaling.scale));
  if (!schema.scaling.inverse_limit.empty()) {
    c_.line("{}(z, {}, {});", c_.use("smooth_clip"), schema.num_features(),
            c_.floats(schema.scaling.inverse_limit));
  }
  std::string low;
  std::string high;
  if (!schema.target_low.empty()) {
    low = c_.floats(schema.target_low);
    high = c_.floats(schema.target_high);
  }
  for (std::size_t i = 0; i < model_.members.size(); ++i) {
    const std::string to = fmt::format("all + {}", static_cast<int64_t>(i) * width);
    c_.line("network{}(z, {});", i, to);
    if (!low.empty()) c_.line("{}({}, {}, {}, {});", c_.use("limit"), to, width, low, high);
  }
  if (model_.is_ensemble()) {
    const bool of_numbers = schema.task == config::Task::kRegression;
    c_.line("{}(all, {}, {}, {}, scores);", c_.use(of_numbers ? "mean" : "log_mean"),
            model_.members.size(), width,
            model_.weights.empty() ? "NULL" : c_.table("double", model_.weights));
  } else {
    c_.line("{}(all, {}, scores);", c_.use("copy"), width);
  }
  add_outputs();
  c_.code += fmt::format(
      "static void predict(const float *x, double *outputs) {{\n  double z[{}], all[{}], "
      "scores[{}];\n{}}}\n\n",
      schema.num_features(), std::ssize(model_.members) * width, width, c_.body);
}

void Writer::add_outputs() {
  const data::Schema& schema = model_.schema;
  if (schema.task == config::Task::kRegression) {
    std::vector<double> offset;
    offset.reserve(schema.target_names.size());
    for (std::size_t i = 0; i < schema.target_names.size(); ++i) {
      offset.push_back(schema.target_scaling.offset_of(i));
    }
    const std::string shift = c_.floats(schema.target_scaling.shift);
    const std::string scale = c_.floats(schema.target_scaling.scale);
    c_.line("{}(scores, {}, {}, {}, {}, outputs);", c_.use("unscale"), model_.num_outputs(), shift,
            scale, c_.table("double", offset));
  } else if (model_.num_outputs() == 1) {
    c_.line("{}(scores, outputs);", c_.use("sigmoid"));
  } else {
    c_.line("{}(scores, {}, outputs);", c_.use("softmax"), model_.num_outputs());
  }
}

void Writer::add_features() {
  const data::Schema& schema = model_.schema;
  c_.body.clear();
  c_.line("{}();", c_.use("unpack"));
  const FeatureLimits limits = feature_limits(schema);
  const std::string offset =
      takes_doubles(schema) ? " - " + c_.table("double", schema.scaling.offset) + "[i]" : "";
  c_.line("for (i = 0; i < {}; i++) {{", schema.num_features());
  c_.line("  x[i] = (float)(features[i]{});", offset);
  if (!limits.low.empty()) {
    const std::string low = c_.floats(limits.low);
    c_.line("  x[i] = {}(x[i], ({})[i], ({})[i]);", c_.use("limited"), low, c_.floats(limits.high));
  }
  c_.line("}}");
  c_.code += fmt::format(
      "void {}_predict_features(const double *features, double *outputs) {{\n"
      "  float x[{}];\n  int i;\n{}  predict(x, outputs);\n}}\n",
      name_, schema.num_features(), c_.body);
}

void Writer::add_class() {
  const std::size_t count = model_.schema.labels.size();
  if (count == 0) return;
  c_.code += fmt::format("\nint {}_class(const double *outputs) {{\n", name_);
  if (count == 2) {
    c_.code += fmt::format("  return outputs[1] > {};\n}}\n", shortest(model_.threshold));
  } else {
    c_.code += fmt::format(
        "  int i, best = 0;\n  for (i = 1; i < {}; i++) {{\n"
        "    if (outputs[i] > outputs[best]) best = i;\n  }}\n  return best;\n}}\n",
        count);
  }
}

void Writer::add_numeric(const Column& column, const std::string& cell, std::size_t index,
                         int64_t first, const std::string& codes) {
  c_.line("v = {}({}, {}, {});", c_.use("cell"), cell, shortest(column.offset), codes);
  if (column.has_missing_indicator) c_.line("x[{}] = isnan(v) ? 1.0f : 0.0f;", first + 1);
  if (column.limits) {
    c_.line("v = {}(v, {}, {});", c_.use("limited"), c_literal(column.limits->low),
            c_literal(column.limits->high));
  }
  if (column.fill) {
    c_.line("if (isnan(v)) v = (float){};", c_literal(*column.fill));
  } else {
    c_.line("if (isnan(v)) return {};", index + 1);
  }
  if (!column.quantiles.empty()) {
    const std::span<const double> scores =
        data::rank_scores(column.quantiles.size(), column.quantile_score);
    const std::string quantiles = c_.floats(column.quantiles);
    c_.line("v = {}(v, {}, {}, {});", c_.use("quantile"), quantiles, c_.table("double", scores),
            column.quantiles.size());
  }
  c_.line("x[{}] = v;", first);
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
  const std::string names = c_.table("char *const", texts);
  c_.line("k = {}({}, {}, {}, {});", c_.use("category"), cell, names, c_.table("int", numbers),
          texts.size());
  if (model_.schema.unknown_category == config::UnknownCategory::kError) {
    c_.line("if (k < 0) return {};", index + 1);
  }
  if (data::is_embedded(column)) {
    c_.line("x[{}] = (float)(k < 0 ? {} : k);", first, column.categories.size());
  } else if (column.is_sign) {
    c_.line("x[{}] = k == 0 ? -1.0f : k == 1 ? 1.0f : 0.0f;", first);
  } else {
    c_.line("if (k >= 0) x[{} + k] = 1;", first);
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
          : fmt::format("{}, {}", c_.table("double", missing.numbers), missing.numbers.size());
  std::string fields;
  std::set<std::string> names;
  bool has_numbers = false;
  bool has_texts = false;
  c_.body.clear();
  c_.line("{}();", c_.use("unpack"));
  for (std::size_t i = 0; i < schema.columns.size(); ++i) {
    const Column& column = schema.columns[i];
    if (!data::is_feature(column)) continue;
    std::string name = c_identifier(column.name);
    for (int n = 2; !names.insert(name).second; ++n) {
      name = fmt::format("{}_{}", c_identifier(column.name), n);
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
  c_.code += fmt::format(
      "\nint {0}_predict(const {0}_row *row, double *outputs) {{\n  float x[{1}] = {{0}};\n{2}{3}"
      "{4}  predict(x, outputs);\n  return 0;\n}}\n",
      name_, schema.num_features(), has_numbers ? "  float v;\n" : "",
      has_texts ? "  int k;\n" : "", c_.body);
  return fields;
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
  for (const std::string& name : names) literals.push_back(c_literal(name));
  std::string values = fmt::format("const char *const {}[{}] = {{\n  {}}};\n", list, names.size(),
                                   fmt::join(literals, ",\n  "));
  if (model_.conformal) {
    const std::vector<double>& bounds = model_.conformal->bounds;
    text += fmt::format("extern const double {}_bounds[{}];\n", name_, bounds.size());
    values += fmt::format("const double {}_bounds[{}] = {{{}}};\n", name_, bounds.size(),
                          fmt::join(bounds, ", "));
  }
  return text + fmt::format("\n#ifndef {}_DECLARATIONS\n\n", name_) + values + "\n" +
         definitions(c_) + c_.code + fmt::format("\n#endif\n");
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
  const std::string text = Writer(model, c_identifier(path.stem().string())).file();
  write_file_atomically(path, text);
  return {.format = "C99", .inputs = {}, .outputs = {}, .checked = {}};
}

}  // namespace trainer::apply
