// SPDX-License-Identifier: Apache-2.0
#include "trainer/run/checkpoint/checkpoint.h"

#include <fmt/format.h>

#include "trainer/base/archive/archive.h"
#include "trainer/base/archive/dict_reader.h"
#include "trainer/base/version.h"
#include "trainer/table/schema/schema_format.h"

#include "run/checkpoint/checkpoint_format.h"

namespace trainer::checkpoint {
namespace {

using archive::Dict;
using archive::List;
using archive::Value;

constexpr const char* kFormat = "trainer-checkpoint";

Dict tensor_dict(const std::vector<NamedTensor>& tensors) {
  Dict dict;
  for (const NamedTensor& named : tensors) dict.emplace_back(named.name, named.tensor);
  return dict;
}

Dict metrics_dict(const std::vector<metrics::Score>& scores) {
  Dict dict;
  for (const metrics::Score& score : scores) dict.emplace_back(score.name, score.value);
  return dict;
}

Dict to_dict(const EpochMetrics& metrics) {
  Dict dict = {{"epoch", metrics.epoch}, {"train", metrics_dict(metrics.train)}};
  if (!metrics.validation.empty()) {
    dict.emplace_back("validation", metrics_dict(metrics.validation));
  }
  return dict;
}

std::vector<metrics::Score> read_scores(const archive::DictReader& reader) {
  std::vector<metrics::Score> scores;
  for (const auto& [name, ignored] : reader.dict()) scores.push_back({name, reader.number(name)});
  return scores;
}

// Reads the metrics of the last epoch, which files of the same format version may lack.
EpochMetrics read_epoch_metrics(const archive::DictReader& root) {
  if (!root.has("metrics")) return {};
  const archive::DictReader reader = root.section("metrics");
  EpochMetrics metrics;
  metrics.epoch = reader.count("epoch");
  metrics.train = read_scores(reader.section("train"));
  if (reader.has("validation")) metrics.validation = read_scores(reader.section("validation"));
  return metrics;
}

// Checks that the file is a checkpoint, and returns its format version.
int64_t check_format(const archive::DictReader& reader) {
  const Value* format = archive::find(reader.dict(), "format");
  const std::string* name = format == nullptr ? nullptr : format->get_if<std::string>();
  if (name == nullptr || *name != kFormat) {
    reader.refuse("format", fmt::format("expected \"{}\", got another kind of PyTorch file; "
                                        "it cannot be resumed",
                                        kFormat));
  }
  const int64_t version = reader.integer("format_version");
  if (version < 1 || version > kFormatVersion) {
    reader.refuse(
        "format_version",
        fmt::format("this program reads format versions 1 to {}, but the file has version {}; it "
                    "was written by trainer {}, use that version or a newer one",
                    kFormatVersion, version, reader.text("trainer_version")));
  }
  return version;
}

void read_optimizer(const archive::DictReader& reader, Checkpoint& c) {
  c.optimizer = reader.text("name");
  c.optimizer_step = reader.count("step");
  const archive::DictReader moments = reader.section("moments");
  for (const auto& [name, ignored] : moments.dict()) {
    c.moments.push_back({name, moments.tensors(name)});
  }
}

}  // namespace

Dict to_dict(const Checkpoint& c) {
  Dict progress = to_dict(c.state);
  progress.emplace_back("metrics_bytes", static_cast<int64_t>(c.metrics_bytes));
  Dict moments;
  for (const Moment& moment : c.moments) {
    moments.emplace_back(moment.name, tensor_dict(moment.tensors));
  }
  List files;
  for (const data::Fingerprint& file : c.fingerprints) {
    files.emplace_back(Dict{{"path", file.path},
                            {"num_bytes", static_cast<int64_t>(file.num_bytes)},
                            {"crc32", static_cast<int64_t>(file.crc32)}});
  }
  Dict root = {
      {"format", kFormat},
      {"format_version", format_version(c.schema)},
      {"trainer_version", build_info().version},
      {"model", tensor_dict(c.model)},
      {"optimizer", Dict{{"name", c.optimizer}, {"step", c.optimizer_step}, {"moments", moments}}},
      {"progress", progress},
      {"config", c.config},
      {"schema", to_dict(c.schema)},
      {"data_files", files},
      {"num_threads", c.num_threads}};
  if (c.epoch_metrics.epoch > 0) root.emplace_back("metrics", to_dict(c.epoch_metrics));
  if (c.bf16_products) root.emplace_back("bf16_products", to_text(*c.bf16_products));
  return root;
}

void write(const std::filesystem::path& path, const Checkpoint& checkpoint) {
  archive::save(path, to_dict(checkpoint));
}

Checkpoint read(const std::filesystem::path& path) {
  const Dict root = archive::load(path);
  const archive::DictReader reader(path, root);
  const int64_t version = check_format(reader);
  Checkpoint c;
  c.format_version = version;
  c.trainer_version = reader.text("trainer_version");
  c.model = reader.tensors("model");
  read_optimizer(reader.section("optimizer"), c);
  const archive::DictReader progress = reader.section("progress");
  c.state = read_run_state(progress, version);
  c.metrics_bytes = static_cast<uint64_t>(progress.count("metrics_bytes"));
  c.epoch_metrics = read_epoch_metrics(reader);
  c.config = reader.text("config");
  c.schema = data::read_schema(reader.section("schema"), version);
  for (const Value& value : reader.list("data_files")) {
    const archive::DictReader file = reader.element("data_files", value);
    c.fingerprints.push_back({file.text("path"), static_cast<uint64_t>(file.count("num_bytes")),
                              static_cast<uint32_t>(file.count("crc32"))});
  }
  c.num_threads = reader.integer("num_threads");
  if (c.num_threads < 1) {
    reader.refuse("num_threads", fmt::format("expected an integer >= 1, got {}", c.num_threads));
  }
  if (reader.has("bf16_products")) {
    c.bf16_products = reader.choice<Bf16Products>("bf16_products");
  }
  return c;
}

}  // namespace trainer::checkpoint
