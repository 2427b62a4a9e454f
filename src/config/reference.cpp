// SPDX-License-Identifier: Apache-2.0
#include "trainer/config/reference.h"

#include <cmath>

#include <fmt/format.h>

#include "trainer/config/config.h"
#include "trainer/config/fields.h"
#include "trainer/core/json.h"

namespace trainer::config {
namespace {

// The first part of the path; keys without a section come first in the table.
std::string find_section(const Field& field) {
  const std::size_t dot = field.path.find('.');
  return dot == std::string::npos ? "" : field.path.substr(0, dot);
}

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

// The smallest and largest value as JSON Schema's four keywords; whole numbers without a point.
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

}  // namespace

std::string reference_page() {
  std::string page =
      "# Configuration\n\n"
      "Made by `trainer config reference`. Values come from the defaults, then the configuration\n"
      "files in their order, then the command line (`--lr 2e-3`, `training.epochs=5`,\n"
      "`--set model.norm=layer`). Keys `x-...` at the top of a file are ignored: there is room "
      "for\n"
      "what `<<: *name` merges into sections.\n"
      "`null` sets a key back to its default. A relative path in a file starts at that file's\n"
      "folder; on the command line, at the working directory.\n";
  std::string section = "none yet";
  for (const Field& field : fields()) {
    if (find_section(field) != section) {
      section = find_section(field);
      page += fmt::format("\n## {}\n\n| key | default | accepts | meaning |\n|---|---|---|---|\n",
                          section.empty() ? "Run" : fmt::format("`{}`", section));
    }
    page += row(field);
  }
  return page;
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
