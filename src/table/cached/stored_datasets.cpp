// SPDX-License-Identifier: Apache-2.0
#include "table/cached/stored_datasets.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <span>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "trainer/base/archive/archive.h"
#include "trainer/base/archive/dict_reader.h"
#include "trainer/base/error.h"
#include "trainer/base/io/read_text.h"
#include "trainer/table/row_checks.h"
#include "trainer/table/schema/schema_format.h"

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

namespace {

using archive::Dict;
using archive::Value;

// The largest page of the machines that this runs on (Arm can have it).
constexpr int64_t kAlignment = 65536;

archive::TensorData checksum_tensor(std::vector<uint32_t>&& checksums) {
  auto owner = std::make_shared<const std::vector<uint32_t>>(std::move(checksums));
  archive::TensorData tensor;
  tensor.dtype = archive::DType::kInt32;
  tensor.shape = {std::ssize(*owner)};
  tensor.data = reinterpret_cast<const std::byte*>(owner->data());
  tensor.owner = owner;
  return tensor;
}

std::vector<uint32_t> read_checksums(const archive::DictReader& entry, int64_t expected) {
  const auto& tensor = entry.get<archive::TensorData>("checksums", "Tensor");
  if (tensor.dtype != archive::DType::kInt32 || tensor.num_elements() != expected) {
    entry.refuse("checksums",
                 fmt::format("expected int32 [{}], got {}", expected, archive::type_text(tensor)));
  }
  const auto* begin = reinterpret_cast<const uint32_t*>(tensor.data);
  return {begin, begin + expected};
}

}  // namespace

template <class T>
Value RowWriter::add(const Array<T>& array) {
  if (array.empty()) return {};
  static constexpr std::byte kZeros[kAlignment] = {};  // NOLINT(modernize-avoid-c-arrays)
  const int64_t padding = (kAlignment - position_ % kAlignment) % kAlignment;
  file_.write(std::span(kZeros, static_cast<size_t>(padding)));
  const std::span<const std::byte> bytes = std::as_bytes(std::span(array.data(), array.size()));
  file_.write(bytes);
  const int64_t begin = position_ + padding;
  position_ = begin + static_cast<int64_t>(bytes.size());
  return {begin};
}

Dict RowWriter::add(const data::Dataset& dataset) {
  const int64_t rows_per_block = data::rows_per_checksum(dataset);
  const data::Matrix& features = dataset.features;
  const int64_t num_targets =
      dataset.size() == 0 ? 0 : std::ssize(std::span(dataset.values)) / dataset.size();
  const bool has_bytes = std::holds_alternative<Array<uint8_t>>(features.values);
  Dict entry{{"num_rows", features.num_rows},
             {"num_columns", features.num_columns},
             {"num_targets", num_targets},
             {"type", has_bytes ? "uint8" : "float32"}};
  entry.emplace_back("features",
                     std::visit([&](const auto& a) { return add(a); }, features.values));
  entry.emplace_back("classes", add(dataset.classes));
  entry.emplace_back("values", add(dataset.values));
  entry.emplace_back("source_lines", add(dataset.source_lines));
  entry.emplace_back("weights", add(dataset.weights));
  entry.emplace_back("targets", add(dataset.targets));
  entry.emplace_back("rows_per_block", rows_per_block);
  entry.emplace_back("checksums", checksum_tensor(data::row_checksums(dataset, rows_per_block)));
  return entry;
}

int64_t RowWriter::finish() {
  file_.commit();
  return position_;
}

// Mapped, unlike other files: this one is never changed, only replaced by another, so that nobody
// cuts it off while it is used.
RowFile::RowFile(const std::filesystem::path& path, int64_t num_bytes)
    : path_(path), num_bytes_(num_bytes) {
  const auto fail = [&](const std::string& problem) {
    throw Error(ErrorKind::kCheckpoint, fmt::format("{}: {}", path.string(), problem));
  };
  const int file = until_done([&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC); });
  if (file < 0) fail("cannot be opened: " + std::generic_category().message(errno));
  const off_t size = ::lseek(file, 0, SEEK_END);
  void* bytes = MAP_FAILED;  // NOLINT: a macro of the system
  if (size == num_bytes && size > 0) {
    bytes = ::mmap(nullptr, static_cast<size_t>(size), PROT_READ, MAP_SHARED, file, 0);
  }
  const int problem = errno;
  ::close(file);
  if (size != num_bytes) fail(fmt::format("has {} bytes, expected {}", size, num_bytes));
  if (num_bytes == 0) return;
  if (bytes == MAP_FAILED) {  // NOLINT
    fail("cannot be mapped: " + std::generic_category().message(problem));
  }
  bytes_ = std::shared_ptr<std::byte>(static_cast<std::byte*>(bytes), [num_bytes](std::byte* old) {
    ::munmap(old, static_cast<size_t>(num_bytes));
  });
}

template <class T>
Array<T> RowFile::array(const archive::DictReader& entry, const char* name, int64_t num_rows,
                        int64_t width) const {
  if (entry.value(name).template get_if<std::monostate>() != nullptr) return {};
  const int64_t begin = entry.count(name);
  const int64_t room = (num_bytes_ - begin) / static_cast<int64_t>(sizeof(T));  // elements
  if (begin % kAlignment != 0 || begin > num_bytes_ || width == 0 || num_rows > room / width) {
    entry.refuse(name, "it is not within " + path_.string());
  }
  const auto size = static_cast<size_t>(num_rows * width);
  return Array<T>(ArrayMemory(bytes_, bytes_.get() + begin, size * sizeof(T)), size);
}

data::Dataset RowFile::dataset(const archive::DictReader& entry, int64_t num_classes) const {
  data::Dataset dataset;
  const int64_t num_rows = entry.count("num_rows");
  dataset.features.num_rows = num_rows;
  dataset.features.num_columns = entry.count("num_columns");
  if (entry.text("type") == "uint8") {
    dataset.features.values =
        array<uint8_t>(entry, "features", num_rows, dataset.features.num_columns);
  } else {
    dataset.features.values =
        array<float>(entry, "features", num_rows, dataset.features.num_columns);
  }
  const bool has_features =
      std::visit([](const auto& values) { return !values.empty(); }, dataset.features.values);
  if (!has_features && num_rows > 0) entry.refuse("features", "missing");
  dataset.classes = array<int64_t>(entry, "classes", num_rows);
  dataset.values = array<float>(entry, "values", num_rows, entry.count("num_targets"));
  dataset.source_lines = array<int64_t>(entry, "source_lines", num_rows);
  dataset.weights = array<float>(entry, "weights", num_rows);
  dataset.targets = array<double>(entry, "targets", num_rows, entry.count("num_targets"));
  const int64_t rows_per_block = entry.count("rows_per_block");
  if (rows_per_block == 0) entry.refuse("rows_per_block", "expected an integer >= 1, got 0");
  const int64_t num_blocks = num_rows == 0 ? 0 : (num_rows - 1) / rows_per_block + 1;
  dataset.checks = std::make_shared<data::RowChecks>(dataset, num_classes, rows_per_block,
                                                     read_checksums(entry, num_blocks),
                                                     path_.parent_path().string());
  return dataset;
}

}  // namespace trainer::cache
