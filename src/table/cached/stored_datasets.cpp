// SPDX-License-Identifier: Apache-2.0
#include "table/cached/stored_datasets.h"

#include <cstdint>
#include <filesystem>
#include <iterator>
#include <span>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "trainer/base/archive/archive.h"
#include "trainer/base/archive/dict_reader.h"
#include "trainer/table/schema/schema_format.h"

#include "table/cached/stored_rows.h"

namespace trainer::cache {
namespace {

namespace fs = std::filesystem;
using archive::Dict;
using archive::List;

fs::path rows_path(const CacheKey& key) { return key.folder / "rows.bin"; }
fs::path head_path(const CacheKey& key) { return key.folder / "data.pt"; }

List text_list(const std::vector<std::string>& texts) { return {texts.begin(), texts.end()}; }

List fingerprint_list(const std::vector<data::Fingerprint>& files) {
  List list;
  for (const data::Fingerprint& file : files) {
    list.emplace_back(Dict{{"path", file.path},
                           {"num_bytes", static_cast<int64_t>(file.num_bytes)},
                           {"crc32", static_cast<int64_t>(file.crc32)}});
  }
  return list;
}

std::vector<data::Fingerprint> read_fingerprints(const archive::DictReader& reader) {
  std::vector<data::Fingerprint> files;
  for (const archive::Value& value : reader.list("data_files")) {
    const archive::DictReader file = reader.element("data_files", value);
    files.push_back({file.text("path"), static_cast<uint64_t>(file.count("num_bytes")),
                     static_cast<uint32_t>(file.count("crc32"))});
  }
  return files;
}

// Rows that are not those of the schema would be read beyond their end.
void require_fit(const archive::DictReader& entry, const data::Dataset& rows,
                 const data::Schema& schema) {
  const auto require = [&](const char* key, int64_t got, int64_t expected) {
    if (got == expected) return;
    entry.refuse(key, fmt::format("expected {} as the schema has, got {}", expected, got));
  };
  require("num_columns", rows.features.num_columns, schema.num_features());
  if (schema.task == config::Task::kClassification) {
    require("classes", std::ssize(std::span(rows.classes)), rows.size());
  } else {
    require("values", std::ssize(std::span(rows.values)), rows.size() * schema.num_targets());
  }
}

}  // namespace

bool is_stored(const CacheKey& key) {
  std::error_code ignored;
  return fs::exists(head_path(key), ignored);
}

uint64_t stored_bytes(const CacheKey& key) {
  std::error_code problem;
  const uintmax_t size = fs::file_size(rows_path(key), problem);
  return problem ? 0 : size;
}

std::optional<data::Datasets> read_datasets(const CacheKey& key) {
  if (!is_stored(key)) return std::nullopt;
  const fs::path head = head_path(key);
  const Dict root = archive::load(head);
  const archive::DictReader reader(head, root);
  if (reader.text("key") != key.text) return std::nullopt;
  const RowFile rows(rows_path(key), reader.count("num_row_bytes"));
  data::Datasets datasets;
  datasets.schema = data::read_schema(reader.section("schema"), data::kFormatVersion);
  const int64_t num_classes = std::ssize(datasets.schema.labels);
  datasets.train = rows.dataset(reader.section("train"), num_classes);
  datasets.validation = rows.dataset(reader.section("validation"), num_classes);
  datasets.test = rows.dataset(reader.section("test"), num_classes);
  require_fit(reader.section("train"), datasets.train, datasets.schema);
  require_fit(reader.section("validation"), datasets.validation, datasets.schema);
  require_fit(reader.section("test"), datasets.test, datasets.schema);
  datasets.fingerprints = read_fingerprints(reader);
  datasets.task_reason = reader.text("task_reason");
  datasets.num_without_target = reader.count("num_without_target");
  datasets.num_weightless = reader.count("num_weightless");
  datasets.notes = reader.texts("notes");
  datasets.num_column_notes = reader.count("num_column_notes");
  datasets.warnings = reader.texts("warnings");
  datasets.target_copies = reader.texts("target_copies");
  return datasets;
}

void write_datasets(const CacheKey& key, const data::Datasets& datasets) {
  fs::remove(head_path(key));  // of other rows
  RowWriter rows(rows_path(key));
  Dict root{{"key", key.text},
            {"train", rows.add(datasets.train)},
            {"validation", rows.add(datasets.validation)},
            {"test", rows.add(datasets.test)}};
  root.emplace_back("num_row_bytes", rows.finish());
  root.emplace_back("schema", data::to_dict(datasets.schema));
  root.emplace_back("data_files", fingerprint_list(datasets.fingerprints));
  root.emplace_back("task_reason", datasets.task_reason);
  root.emplace_back("num_without_target", datasets.num_without_target);
  root.emplace_back("num_weightless", datasets.num_weightless);
  root.emplace_back("notes", text_list(datasets.notes));
  root.emplace_back("num_column_notes", datasets.num_column_notes);
  root.emplace_back("warnings", text_list(datasets.warnings));
  root.emplace_back("target_copies", text_list(datasets.target_copies));
  archive::save(head_path(key), root);
}

}  // namespace trainer::cache
