// SPDX-License-Identifier: Apache-2.0
// Throughput of reading and writing files in bytes per second: CSV by kind of cell, IDX plain and
// gzipped (compared with zlib alone), checkpoints by size; and of predictions, from file to file,
// in rows per second. All files are in the page cache. Flags are Google Benchmark's:
// --benchmark_filter=csv, --benchmark_repetitions=5, ...
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "trainer/apply/predict.h"
#include "trainer/base/memory/process_memory.h"
#include "trainer/base/philox.h"
#include "trainer/config/data_config.h"
#include "trainer/nn/spec/mlp.h"
#include "trainer/run/checkpoint/checkpoint.h"
#include "trainer/table/dataset.h"
#include "trainer/table/duckdb/query.h"
#include "trainer/table/schema/columns.h"
#include "trainer/table/schema/encode.h"
#include "trainer/table/source/idx.h"
#include "trainer/table/source/table_reader.h"

namespace trainer {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMegabyte = 1'000'000;

/// A temporary folder for the files of a benchmark.
class Scratch {
 public:
  Scratch() {
    std::string name = (fs::temp_directory_path() / "trainer_bench_XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot create " + name);
    folder_ = name;
  }
  ~Scratch() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  fs::path path(const std::string& name) const { return folder_ / name; }
  fs::path write(const std::string& name, const std::string& content) const {
    std::ofstream file(path(name), std::ios::binary);
    file << content;
    if (!file.flush()) throw std::runtime_error("cannot write " + path(name).string());
    return path(name);
  }

 private:
  fs::path folder_;
};

void count_bytes(benchmark::State& state, uint64_t bytes_per_iteration) {
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(bytes_per_iteration));
}

// ---- CSV ----

struct CellKind {
  const char* name;
  std::string (*make)(PhiloxStream& random);
  const char* line_break;
};

std::string decimals(PhiloxStream& random) { return fmt::format("{:.6f}", random.normal()); }

const std::vector<CellKind>& cell_kinds() {
  static const std::vector<CellKind> kinds = {
      {"one_digit", [](PhiloxStream& r) { return fmt::format("{}", r.below(10)); }, "\n"},
      {"two_digits", [](PhiloxStream& r) { return fmt::format("{}", r.below(17)); }, "\n"},
      {"pixels", [](PhiloxStream& r) { return fmt::format("{}", r.below(2) * r.below(256)); },
       "\n"},
      {"one_decimal", [](PhiloxStream& r) { return fmt::format("{:.1f}", r.uniform()); }, "\n"},
      {"six_decimals", decimals, "\n"},
      {"six_decimals_crlf", decimals, "\r\n"},
      {"six_decimals_quoted", [](PhiloxStream& r) { return '"' + decimals(r) + '"'; }, "\n"},
      {"six_decimals_spaced", [](PhiloxStream& r) { return ' ' + decimals(r); }, "\n"},
      {"one_digit_quoted", [](PhiloxStream& r) { return fmt::format("\"{}\"", r.below(10)); },
       "\n"},
      {"shortest_float",
       [](PhiloxStream& r) { return fmt::format("{}", static_cast<float>(r.normal())); }, "\n"},
      {"shortest_double", [](PhiloxStream& r) { return fmt::format("{}", r.normal()); }, "\n"},
      {"one_decimal_exponent", [](PhiloxStream& r) { return fmt::format("{:.1e}", r.normal()); },
       "\n"},
      {"six_decimals_exponent", [](PhiloxStream& r) { return fmt::format("{:.6e}", r.normal()); },
       "\n"},
      {"numpy_savetxt", [](PhiloxStream& r) { return fmt::format("{:.18e}", r.normal()); }, "\n"},
  };
  return kinds;
}

std::string csv_text(const CellKind& kind) {
  constexpr size_t kTextBytes = 16 * kMegabyte;
  constexpr int kColumns = 32;
  std::string text;
  for (int column = 0; column < kColumns; ++column) text += fmt::format("column_{},", column);
  text += std::string("label") + kind.line_break;
  PhiloxStream random(7, StreamId::kSynthetic);
  while (text.size() < kTextBytes) {
    for (int column = 0; column < kColumns; ++column) text += kind.make(random) + ",";
    text += fmt::format("{}{}", random.below(10), kind.line_break);
  }
  return text;
}

void read_table(benchmark::State& state, const CellKind& kind) {
  const Scratch scratch;
  const fs::path path = scratch.write("table.csv", csv_text(kind));
  for (auto _ : state) {
    benchmark::DoNotOptimize(data::read_table({path}, {.targets = {"label"}}).features.num_rows);
  }
  count_bytes(state, fs::file_size(path));
}

// ---- Parquet ----

constexpr int64_t kParquetRows = 3'000'000;

/// 4 columns of numbers, one of text, and a target; those types that are read without a conversion.
fs::path write_parquet(const Scratch& scratch) {
  fs::path path = scratch.path("table.parquet");
  duckdb::execute(
      {.name = "bench",
       .sql = fmt::format("COPY (SELECT sin(range) AS a, cos(range) AS b, sqrt(range) AS c, "
                          "(range % 1000)::DOUBLE AS d, ['red', 'green', 'blue'][range % 3 + 1] AS "
                          "e, (range % 2)::VARCHAR AS y FROM range({})) TO {} (COMPRESSION zstd)",
                          kParquetRows, duckdb::quoted_text(path.string()))});
  return path;
}

/// What DuckDB alone needs.
void stream_parquet(benchmark::State& state) {
  const Scratch scratch;
  const std::string file = duckdb::quoted_text(write_parquet(scratch).string());
  for (auto _ : state) {
    duckdb::Query query({.name = "bench", .sql = "FROM " + file});
    std::vector<duckdb::WantedColumn> wanted;
    for (size_t i = 0; i < query.columns().size(); ++i) {
      const bool is_text = query.columns()[i].type == duckdb::ColumnType::kText;
      wanted.push_back({i, is_text ? duckdb::CellType::kText : duckdb::CellType::kNumber});
    }
    query.start(wanted);
    while (const std::optional<duckdb::Chunk> chunk = query.next()) {
      benchmark::DoNotOptimize(chunk->num_rows());
    }
  }
  state.SetItemsProcessed(state.iterations() * kParquetRows);
}

void read_and_encode_parquet(benchmark::State& state) {
  const Scratch scratch;
  const data::TableSource source{.path = write_parquet(scratch).string()};
  std::vector<int64_t> rows(kParquetRows);
  std::iota(rows.begin(), rows.end(), int64_t{0});
  for (auto _ : state) {
    data::Table table = data::read_table(source, {.targets = {"y"}});
    const std::vector<data::Column> columns = data::fit_columns(table, rows, {});
    const data::Encoded encoded = data::encode(columns, config::UnknownCategory::kUnknown, table);
    benchmark::DoNotOptimize(encoded.features.num_rows);
  }
  state.SetItemsProcessed(state.iterations() * kParquetRows);
}

/// The same, and its target, splits, statistics and warnings.
void load_parquet(benchmark::State& state) {
  const Scratch scratch;
  config::DataConfig data;
  data.source = config::Source::kCsv;
  data.path = write_parquet(scratch);
  data.target = {"y"};
  for (auto _ : state) benchmark::DoNotOptimize(data::load_datasets(data, 1).train.size());
  state.SetItemsProcessed(state.iterations() * kParquetRows);
}

// ---- IDX ----

constexpr uint32_t kImages = 20'000;
constexpr uint32_t kSide = 28;

/// Compresses about as well as Fashion-MNIST: half of each image is empty, the rest is noise.
std::string idx_text() {
  std::string text("\0\0\x08\x03", 4);
  for (const uint32_t size : {kImages, kSide, kSide}) {
    for (const unsigned shift : {24U, 16U, 8U, 0U}) text += static_cast<char>(size >> shift & 0xFF);
  }
  PhiloxStream random(8, StreamId::kSynthetic);
  for (uint32_t row = 0; row < kImages * kSide; ++row) {
    const uint64_t width = random.below(kSide);
    const uint64_t brightness = random.below(128);
    for (uint32_t x = 0; x < kSide; ++x) {
      text += static_cast<char>(x < width ? brightness + random.below(100) : 0);
    }
  }
  return text;
}

fs::path gzipped(const std::string& text, const Scratch& scratch) {
  fs::path path = scratch.path("packed");
  gzFile file = gzopen(path.c_str(), "wb");
  gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
  gzclose(file);
  return path;
}

fs::path idx_file(const Scratch& scratch, bool packed) {
  const std::string text = idx_text();
  return packed ? gzipped(text, scratch) : scratch.write("plain", text);
}

void read_idx(benchmark::State& state, bool packed) {
  const Scratch scratch;
  const fs::path path = idx_file(scratch, packed);
  for (auto _ : state) benchmark::DoNotOptimize(data::read_idx(path).bytes.data());
  count_bytes(state, uint64_t{kImages} * kSide * kSide);
}

/// The upper bound: decompresses the same file with zlib into allocated memory.
void inflate_alone(benchmark::State& state) {
  const Scratch scratch;
  const std::string path = idx_file(scratch, /*packed=*/true).string();
  std::vector<char> content(idx_text().size());
  for (auto _ : state) {
    gzFile file = gzopen(path.c_str(), "rb");
    gzbuffer(file, 1U << 18);
    benchmark::DoNotOptimize(gzread(file, content.data(), static_cast<unsigned>(content.size())));
    gzclose(file);
  }
  count_bytes(state, content.size());
}

// ---- checkpoints ----

archive::TensorData make_tensor(int64_t num_elements) {
  auto owner = std::make_shared<std::vector<float>>(static_cast<size_t>(num_elements), 0.5F);
  const auto* data = reinterpret_cast<const std::byte*>(owner->data());
  return {archive::DType::kFloat32, {num_elements}, data, owner};
}

/// Weights and the two moments of AdamW, four tensors each.
checkpoint::Checkpoint make_checkpoint(int64_t num_megabytes) {
  constexpr int64_t kTensors = 4;
  const auto num_elements = num_megabytes * static_cast<int64_t>(kMegabyte) / (3 * kTensors * 4);
  checkpoint::Checkpoint result;
  result.optimizer = "adamw";
  result.moments = {{"exp_avg", {}}, {"exp_avg_sq", {}}};
  for (int64_t i = 0; i < kTensors; ++i) {
    const std::string name = fmt::format("layers.{}.weight", i);
    result.model.push_back({name, make_tensor(num_elements)});
    for (auto& moment : result.moments) moment.tensors.push_back({name, make_tensor(num_elements)});
  }
  return result;
}

void write_checkpoint(benchmark::State& state) {
  const Scratch scratch;
  const checkpoint::Checkpoint content = make_checkpoint(state.range(0));
  for (auto _ : state) checkpoint::write(scratch.path("a.pt"), content);
  count_bytes(state, fs::file_size(scratch.path("a.pt")));
}

void read_checkpoint(benchmark::State& state) {
  const Scratch scratch;
  checkpoint::write(scratch.path("a.pt"), make_checkpoint(state.range(0)));
  for (auto _ : state) {
    benchmark::DoNotOptimize(checkpoint::read(scratch.path("a.pt")).model.data());
  }
  count_bytes(state, fs::file_size(scratch.path("a.pt")));
}

// ---- predictions ----

constexpr int kPredictColumns = 20;

/// A 20-64-64-2 network with random weights, for numeric columns.
apply::Model make_model() {
  apply::Model model;
  apply::Member& member = model.members.emplace_back();
  member.network =
      network::mlp({.num_features = kPredictColumns, .num_outputs = 2, .hidden_sizes = {64, 64}});
  PhiloxStream random(9, StreamId::kSynthetic);
  for (const network::TensorSpec& spec : network::tensors(member.network)) {
    const int64_t size = spec.num_elements();
    auto values = std::make_shared<std::vector<float>>();
    for (int64_t i = 0; i < size; ++i) values->push_back(static_cast<float>(random.normal() / 8));
    const auto* data = reinterpret_cast<const std::byte*>(values->data());
    member.weights.push_back({spec.name, {archive::DType::kFloat32, spec.shape, data, values}});
  }
  model.schema.target_names = {"y"};
  model.schema.labels = {"no", "yes"};
  model.schema.scaling = {std::vector<float>(kPredictColumns, 0.0F),
                          std::vector<float>(kPredictColumns, 1.0F)};
  for (int i = 0; i < kPredictColumns; ++i) {
    model.schema.feature_names.push_back(fmt::format("x{}", i));
    model.schema.columns.push_back({.name = model.schema.feature_names.back()});
  }
  return model;
}

void predict(benchmark::State& state) {
  constexpr int kRows = 200'000;
  const Scratch scratch;
  const apply::Model model = make_model();
  std::string text = fmt::format("{}\n", fmt::join(model.schema.feature_names, ","));
  PhiloxStream random(10, StreamId::kSynthetic);
  for (int row = 0; row < kRows; ++row) {
    for (int column = 0; column < kPredictColumns; ++column) {
      text += fmt::format("{:.4f}{}", random.normal(), column + 1 < kPredictColumns ? ',' : '\n');
    }
  }
  apply::PredictRequest request{.data = {.path = scratch.write("in.csv", text)},
                                .output = scratch.path("out.csv")};
  request.num_threads = state.range(0);
  for (auto _ : state) {
    apply::predict(
        model, request, [](const std::string&) {},
        [](const apply::PredictProgress&) { return true; });
  }
  state.SetItemsProcessed(state.iterations() * kRows);
}

void register_all() {
  benchmark::RegisterBenchmark("predict/threads", predict)
      ->Arg(1)
      ->Arg(2)
      ->UseRealTime()
      ->Unit(benchmark::kMillisecond);
  for (const CellKind& kind : cell_kinds()) {
    benchmark::RegisterBenchmark(fmt::format("csv/{}", kind.name).c_str(), read_table, kind)
        ->Unit(benchmark::kMillisecond);
  }
  for (auto* timed :
       {benchmark::RegisterBenchmark("parquet/stream_alone", stream_parquet),
        benchmark::RegisterBenchmark("parquet/read_and_encode", read_and_encode_parquet),
        benchmark::RegisterBenchmark("parquet/load", load_parquet)}) {
    timed->UseRealTime()->Unit(benchmark::kMillisecond);
  }
  benchmark::RegisterBenchmark("gzip/inflate_alone", inflate_alone)->Unit(benchmark::kMillisecond);
  for (const bool packed : {true, false}) {
    const char* kind = packed ? "gzip" : "plain";
    benchmark::RegisterBenchmark(fmt::format("idx/{}", kind).c_str(), read_idx, packed)
        ->Unit(benchmark::kMillisecond);
  }
  // Wall-clock time: writing waits for the disk, and reading uses several threads.
  for (auto* timed : {benchmark::RegisterBenchmark("checkpoint/write_megabytes", write_checkpoint),
                      benchmark::RegisterBenchmark("checkpoint/read_megabytes", read_checkpoint)}) {
    timed->Arg(1)->Arg(10)->Arg(100)->UseRealTime()->Unit(benchmark::kMillisecond);
  }
}

}  // namespace
}  // namespace trainer

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  // Each iteration takes new memory from the system, as a program that reads once does.
  trainer::return_freed_blocks();
  trainer::register_all();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
