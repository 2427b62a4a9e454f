// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "trainer/apply/inspect.h"
#include "trainer/apply/predict.h"
#include "trainer/base/archive/safetensors.h"
#include "trainer/base/io/atomic_file.h"
#include "trainer/config/data_config.h"
#include "trainer/nn/spec/mlp.h"
#include "trainer/run/checkpoint/checkpoint.h"
#include "trainer/run/checkpoint/resume_point.h"
#include "trainer/run/checkpoint/weights.h"
#include "trainer/table/dataset.h"
#include "trainer/table/duckdb/query.h"
#include "trainer/table/row_checks.h"
#include "trainer/table/table.h"

#include "base/archive/zip.h"
#include "fuzz/input.h"
#include "fuzz/targets.h"
#include "support/checkpoints.h"
#include "support/files.h"
#include "table/cached/cache_key.h"
#include "table/cached/stored_datasets.h"

namespace trainer::fuzz {
namespace {

namespace fs = std::filesystem;

// The content of a file that the program has written.
class Archive {
 public:
  explicit Archive(const fs::path& file) : bytes_(test::read_file(file)) {
    records_ = archive::read_zip(std::as_bytes(std::span(bytes_)), file.string());
  }

  std::string pickle() const {
    for (const auto& [name, record] : records_) {
      if (name.ends_with("data.pkl")) return std::string(archive::as_text(record));
    }
    return "";
  }

  // The file again, its checksums right, with another pickle.
  void write_with_pickle(const fs::path& path, std::string_view pickle) const {
    AtomicFile file(path);
    archive::ZipWriter zip(file);
    for (const auto& [name, record] : records_) {
      const bool is_pickle = name.ends_with("data.pkl");
      zip.add(name, is_pickle ? std::as_bytes(std::span(pickle.data(), pickle.size())) : record);
    }
    zip.finish();
    file.commit();
  }

 private:
  std::string bytes_;
  archive::ZipRecords records_;
};

// A row for the columns that a model says it was trained on.
fs::path table_for(const data::Schema& schema) {
  std::string header;
  std::string row;
  for (const data::Column& column : schema.columns) {
    header += (header.empty() ? "" : ",") + duckdb::quoted_name(data::source_of(column));
    row += row.empty() ? "1" : ",1";
  }
  return folder().write("row.csv", header + "\n" + row + "\n");
}

network::NetworkSpec small_network() {
  return network::mlp({.num_features = 3, .num_outputs = 2, .hidden_sizes = {4}});
}

void use_model(const fs::path& path) {
  read_or_refuse([&] { checkpoint::open_checkpoint(path, checkpoint::OpenMode::kReadOnly); });
  read_or_refuse([&] { checkpoint::read_weights(path, small_network()); });
  std::optional<apply::Inspection> inspection;
  read_or_refuse([&] { inspection = apply::inspect(path); });
  if (!inspection) return;
  const Document document = apply::inspection_document(*inspection);
  document.text();
  document.json();
  const apply::Model& model = inspection->model;
  read_or_refuse([&] {
    apply::predict(
        model, {.data = {table_for(model.schema)}, .output = folder().path() / "predictions.csv"},
        [](const std::string&) {}, [](const apply::PredictProgress&) { return true; });
  });
}

// Reads all of the rows.
void use_rows(const data::Dataset& rows, const data::Schema& schema) {
  data::require_intact(rows);
  double sum = 0;
  for (int64_t row = 0; row < rows.size(); ++row) {
    for (int64_t column = 0; column < rows.features.num_columns; ++column) {
      sum += data::value_at(rows.features, row, column);
    }
  }
  for (const int64_t number : rows.classes) sum += static_cast<double>(number);
  for (const float number : rows.values) sum += number;
  for (const float number : rows.weights) sum += number;
  if (!rows.targets.empty()) data::true_values(schema, rows);
  require(!(sum == -1e300), "not to be left out by the compiler");
}

fs::path sound_checkpoint() {
  const fs::path path = folder().path() / "sound.pt";
  checkpoint::write(path, test::sound_checkpoint());
  return path;
}

const Archive& sound_archive() {
  static const Archive archive(sound_checkpoint());
  return archive;
}

const cache::CacheKey& cache_key() {
  static const cache::CacheKey key = {.folder = folder().path() / "cache", .text = "key\n"};
  return key;
}

const Archive& stored_table() {
  static const Archive archive = [] {
    config::DataConfig data;
    data.source = config::Source::kCsv;
    data.path = folder().write("cached.csv", "a,k,w,y\n1,p,1,u\n2,q,2,v\n3,p,1,u\n4,,1,v\n");
    data.target = {"y"};
    data.weight = "w";
    data.cache = "off";
    data.validation_fraction = data.test_fraction = 0;
    fs::create_directories(cache_key().folder);
    cache::write_datasets(cache_key(), data::load_datasets(data, /*seed=*/1));
    return Archive(cache_key().folder / "data.pt");
  }();
  return archive;
}

}  // namespace

std::string zip_seed() { return test::read_file(sound_checkpoint()); }

void fuzz_zip(std::string_view bytes) { use_model(folder().write("t.pt", bytes)); }

std::string pickle_seed() { return sound_archive().pickle(); }

void fuzz_pickle(std::string_view bytes) {
  const fs::path path = folder().path() / "t.pt";
  sound_archive().write_with_pickle(path, bytes);
  use_model(path);
}

std::string safetensors_seed() {
  const fs::path path = folder().path() / "sound.safetensors";
  archive::Safetensors content;
  for (const checkpoint::NamedTensor& weight : test::sound_checkpoint().model) {
    content.tensors.emplace_back(weight.name, weight.tensor);
  }
  archive::write_safetensors(path, content);
  return test::read_file(path);
}

void fuzz_safetensors(std::string_view bytes) {
  const fs::path path = folder().write("t.safetensors", bytes);
  read_or_refuse([&] {
    unsigned sum = 0;
    for (const auto& [name, tensor] : archive::read_safetensors(path).tensors) {
      for (std::size_t i = 0; i < tensor.num_bytes(); ++i) {
        sum += std::to_integer<unsigned>(tensor.data[i]);
      }
    }
    require(sum != 0xFFFFFFFF, "not to be left out by the compiler");
  });
  read_or_refuse([&] { checkpoint::read_weights(path, small_network()); });
}

std::string cache_seed() { return stored_table().pickle(); }

void fuzz_cache(std::string_view bytes) {
  stored_table().write_with_pickle(cache_key().folder / "data.pt", bytes);
  read_or_refuse([&] {
    const std::optional<data::Datasets> datasets = cache::read_datasets(cache_key());
    if (!datasets) return;
    for (const data::Dataset* rows : {&datasets->train, &datasets->validation, &datasets->test}) {
      use_rows(*rows, datasets->schema);
    }
  });
}

}  // namespace trainer::fuzz
