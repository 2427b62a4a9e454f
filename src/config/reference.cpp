// SPDX-License-Identifier: Apache-2.0
#include "trainer/config/reference.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "trainer/base/text/document.h"
#include "trainer/base/text/format.h"
#include "trainer/base/text/json.h"
#include "trainer/config/config.h"
#include "trainer/config/fields.h"
#include "trainer/config/recipe.h"

namespace trainer::config {
namespace {

std::string accepted_cell(const Field& field) {
  if (const auto* choice = std::get_if<ChoiceAccess>(&field.access)) {
    return fmt::format("`{}`", fmt::join(choice->names, "` `"));
  }
  return expected_text(field.access);
}

std::string row(const Field& field) {
  std::string meaning = field.help;
  if (!field.flag.empty()) meaning += fmt::format(" Flag `{}`.", field.flag);
  if (field.on_resume == OnResume::kMayChange) meaning += " May change on resume.";
  return fmt::format("| `{}` | `{}` | {} | {} |\n", field.path, value_text(field, Config{}),
                     accepted_cell(field), meaning);
}

bool has_name(const Field& field, std::string_view name) {
  const std::string_view path = field.path;
  const std::string_view flag = field.flag;
  return path.substr(path.rfind('.') + 1) == name ||
         (flag.starts_with("--") && flag.substr(2) == name) ||
         std::find(field.aliases.begin(), field.aliases.end(), name) != field.aliases.end();
}

trainer::Document describe_one(const Field& field) {
  trainer::Document document;
  document.line("key", field.path);
  document.line("meaning", field.help);
  document.line("accepts", expected_text(field.access));
  document.line("default", value_text(field, Config{}));
  for (int index = 0; const std::string& name : enum_names<Recipe>()) {
    for (const RecipeDefault& value : recipe_defaults(static_cast<Recipe>(index++))) {
      if (value.key != field.path) continue;
      document.line("", fmt::format("with recipe={}: {}", name, value.value));
    }
  }
  document.line("set by", field.path + "=VALUE" +
                              (field.flag.empty() ? "" : fmt::format(", {} VALUE", field.flag)));
  document.line("on resume", field.on_resume == OnResume::kMayChange ? "may change" : "is kept");
  return document;
}

// Adds the limits as the keywords of JSON Schema for numbers. Whole numbers have no decimal point.
void add_bounds(Json& schema, const Bounds& bounds) {
  const auto add = [&](const char* keyword, const std::optional<double>& limit) {
    if (!limit) return;
    if (std::floor(*limit) == *limit) {
      schema[keyword] = static_cast<int64_t>(*limit);
    } else {
      schema[keyword] = *limit;
    }
  };
  add("minimum", bounds.min);
  add("exclusiveMinimum", bounds.above);
  add("maximum", bounds.max);
  add("exclusiveMaximum", bounds.below);
}

struct SchemaOf {
  Json operator()(const IntegerAccess& access) const {
    Json schema = {{"type", "integer"}};
    add_bounds(schema, access.bounds);
    if (access.zero_word.empty()) return schema;
    return {{"anyOf", Json::array({schema, Json{{"const", access.zero_word}}})}};
  }
  Json operator()(const NumberAccess& access) const {
    Json schema = {{"type", "number"}};
    add_bounds(schema, access.bounds);
    return schema;
  }
  Json operator()(const BoolAccess&) const { return {{"type", "boolean"}}; }
  Json operator()(const TextAccess&) const { return {{"type", "string"}}; }
  Json operator()(const PathAccess&) const { return {{"type", "string"}}; }
  Json operator()(const ChoiceAccess& access) const { return {{"enum", access.names}}; }
  Json operator()(const IntegerListAccess& access) const {
    Json element = {{"type", "integer"}};
    add_bounds(element, access.bounds);
    return {{"anyOf", {element, {{"type", "array"}, {"items", element}}}}};
  }
  Json operator()(const TextListAccess&) const {
    const Json text = {{"type", "string"}};
    return {{"anyOf", {text, {{"type", "array"}, {"items", text}}}}};
  }
};

Json object_schema() {
  return {{"type", "object"}, {"additionalProperties", false}, {"properties", Json::object()}};
}

Json& section_schema(Json& root, std::string_view path) {
  Json* at = &root;
  for (std::size_t dot = path.find('.'); dot != std::string_view::npos; dot = path.find('.')) {
    Json& properties = (*at)["properties"];
    const std::string name(path.substr(0, dot));
    if (!properties.contains(name)) properties[name] = object_schema();
    at = &properties[name];
    path.remove_prefix(dot + 1);
  }
  return *at;
}

// Returns a section with a table for each recipe: its keys and defaults.
std::string recipes_text() {
  std::string text = "\n## Recipes\n\nThe defaults that `recipe` sets; `plain` sets none.\n";
  for (int index = 0; const std::string& name : enum_names<Recipe>()) {
    const std::vector<RecipeDefault> defaults = recipe_defaults(static_cast<Recipe>(index++));
    if (defaults.empty()) continue;
    text += fmt::format("\n### `{}`\n\n| key | default |\n|---|---|\n", name);
    for (const RecipeDefault& value : defaults) {
      text += fmt::format("| `{}` | {} |\n", value.key, value.value);
    }
  }
  return text;
}

}  // namespace

std::string reference_page() {
  std::string page =
      "# Configuration\n\n"
      "Generated by `trainer config reference`. Values come from the defaults, then the\n"
      "configuration files in order, then the command line (`--lr 2e-3`, `training.epochs=5`,\n"
      "`--set model.norm=layer`). Top-level keys that start with `x-` are ignored; use them to\n"
      "define anchors for YAML merge keys (`<<: *name`). `null` resets a key to its default. A\n"
      "relative path in a file is relative to the folder of that file; on the command line, to "
      "the\n"
      "working directory.\n";
  std::string section = "none yet";
  for (const Field& field : fields()) {
    if (section_of(field) != section) {
      section = section_of(field);
      page += fmt::format("\n## {}\n\n| key | default | accepts | meaning |\n|---|---|---|---|\n",
                          section.empty() ? "Run" : fmt::format("`{}`", section));
    }
    page += row(field);
  }
  return page + recipes_text();
}

std::vector<const Field*> fields_named(std::string_view name) {
  if (const Field* field = find_field(name); field != nullptr) return {field};
  std::vector<const Field*> found;
  const std::string section = is_section(name) ? std::string(name) + "." : "";
  for (const Field& field : fields()) {
    const bool is_named = section.empty() ? has_name(field, name) : field.path.starts_with(section);
    if (is_named) found.push_back(&field);
  }
  return found;
}

trainer::Document describe(std::span<const Field* const> fields) {
  if (fields.size() == 1) return describe_one(*fields.front());
  trainer::Document document;
  Table& table = document.table("", {{"", "key", Align::kLeft},
                                     {"", "default", Align::kLeft, 16},
                                     {"", "meaning", Align::kLeft, 80}});
  for (const Field* field : fields) {
    table.add({field->path, value_text(*field, Config{}), first_sentence(field->help)});
  }
  return document;
}

std::string json_schema() {
  Json root = {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
               {"title", "trainer configuration"}};
  root.update(object_schema());
  root["patternProperties"]["^x-"] = Json::object();
  for (const Field& field : fields()) {
    Json schema = std::visit(SchemaOf{}, field.access);
    schema["description"] = field.help;
    const std::string leaf = field.path.substr(field.path.rfind('.') + 1);
    section_schema(root, field.path)["properties"][leaf] = std::move(schema);
  }
  return root.dump(2) + "\n";
}

}  // namespace trainer::config
