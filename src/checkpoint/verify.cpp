// SPDX-License-Identifier: Apache-2.0
#include "trainer/checkpoint/verify.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "trainer/archive/archive.h"
#include "trainer/config/load.h"
#include "trainer/core/error.h"
#include "trainer/core/stopwatch.h"

namespace trainer::checkpoint {
namespace {

using archive::TensorData;
using Tensors = std::map<std::string_view, const TensorData*>;

// PyTorch's names of what BatchNorm measures; everything else of a model is learnt.
bool is_parameter(std::string_view name) {
  return !name.ends_with(".running_mean") && !name.ends_with(".running_var");
}

Tensors parameters_of(const Checkpoint& checkpoint) {
  Tensors parameters;
  for (const NamedTensor& named : checkpoint.model) {
    if (is_parameter(named.name)) parameters[named.name] = &named.tensor;
  }
  return parameters;
}

/// Collects what is wrong with a checkpoint that could be read.
class Checker {
 public:
  explicit Checker(const Checkpoint& checkpoint)
      : checkpoint_(checkpoint), parameters_(parameters_of(checkpoint)) {}

  void check_numbers() {
    for (const NamedTensor& named : checkpoint_.model) check_finite("model", named);
    for (const Moment& moment : checkpoint_.moments) {
      const std::string what = "optimizer moment " + moment.name;
      for (const NamedTensor& named : moment.tensors) check_finite(what, named);
    }
  }

  // From the features through each layer to the outputs.
  void check_layers() {
    int64_t width = check_embeddings();
    std::size_t layer = 0;
    for (;; ++layer) {
      const auto found = parameters_.find(fmt::format("layers.{}.weight", layer));
      if (found == parameters_.end()) break;
      const std::vector<int64_t>& shape = found->second->shape;
      if (shape.size() != 2 || shape[1] != width) {
        refuse(fmt::format("model {}", found->first),
               fmt::format("expected [outputs, {}], got [{}]", width, fmt::join(shape, ", ")));
        return;
      }
      width = shape[0];
    }
    if (layer == 0) {
      refuse("model layers.0.weight", "this tensor is missing");
      return;
    }
    const data::Schema& schema = checkpoint_.schema;
    const bool is_binary = schema.labels.size() == 2 && width == 1;
    const int64_t expected =
        schema.num_outputs(is_binary ? config::Loss::kBinaryCrossEntropy : config::Loss::kAuto);
    if (width != expected) {
      refuse(fmt::format("model layers.{}.weight", layer - 1),
             fmt::format("expected {} outputs, got {}", expected, width));
    }
  }

  // Returns the number of inputs of the first layer.
  int64_t check_embeddings() {
    int64_t width = checkpoint_.schema.num_features();
    std::size_t table = 0;
    for (const data::Column& column : checkpoint_.schema.columns) {
      if (!data::is_embedded(column)) continue;
      const std::string name = fmt::format("embeddings.{}.weight", table++);
      const auto found = parameters_.find(name);
      const std::vector<int64_t> expected = {static_cast<int64_t>(column.categories.size()) + 1,
                                             column.embedding_size};
      if (found == parameters_.end()) {
        refuse("model " + name, "this tensor is missing");
      } else if (found->second->shape != expected) {
        refuse("model " + name, fmt::format("expected [{}], got [{}]", fmt::join(expected, ", "),
                                            fmt::join(found->second->shape, ", ")));
      }
      width += column.embedding_size - 1;
    }
    if (const std::string name = fmt::format("embeddings.{}.weight", table);
        parameters_.contains(name)) {
      refuse("model " + name,
             fmt::format("expected no embedding, the data have {} embedded columns", table));
    }
    return width;
  }

  void check_moments() {
    for (const Moment& moment : checkpoint_.moments) {
      const std::string what = "optimizer moment " + moment.name;
      Tensors missing = parameters_;
      for (const NamedTensor& named : moment.tensors) {
        const auto parameter = missing.extract(named.name);
        if (parameter.empty()) {
          refuse(what + " " + named.name, "the model has no such parameter");
        } else if (parameter.mapped()->shape != named.tensor.shape) {
          refuse(what + " " + named.name,
                 fmt::format("expected the shape of the parameter, {}, "
                             "got {}",
                             type_text(*parameter.mapped()), type_text(named.tensor)));
        }
      }
      for (const auto& [name, ignored] : missing) {
        refuse(fmt::format("{} {}", what, name), "this tensor is missing");
      }
    }
  }

  config::Config check_config() {
    config::Config config;
    try {
      config = config::load({{"config", checkpoint_.config, ""}}, {}).config;
    } catch (const Error& error) {
      problems_.emplace_back(error.what());
      return config;
    }
    std::vector<int64_t> widths = model_size(checkpoint_).widths;
    if (widths.size() < 2) return config;  // reported with the layers
    widths.erase(widths.begin());
    widths.pop_back();
    const std::vector<int64_t> expected = config::hidden_sizes(config.model);
    if (widths != expected) {
      refuse("model", fmt::format("expected hidden layers [{}] as in its configuration, got [{}]",
                                  fmt::join(expected, ", "), fmt::join(widths, ", ")));
    }
    return config;
  }

  void finish(const std::string& path) const {
    if (problems_.empty()) return;
    std::string text;
    for (const std::string& problem : problems_) text += problem + "\n";
    text.pop_back();
    for (std::size_t at = 0; at != std::string::npos; at = text.find('\n', at)) {
      if (at > 0) ++at;
      text.insert(at, path + ": ");
    }
    throw Error(ErrorKind::kCheckpoint, text);
  }

 private:
  void refuse(const std::string& entry, const std::string& problem) {
    problems_.push_back(fmt::format("{}: {}", entry, problem));
  }

  void check_finite(const std::string& what, const NamedTensor& named) {
    const TensorData& tensor = named.tensor;
    if (tensor.dtype != archive::DType::kFloat32) {
      refuse(what + " " + named.name,
             fmt::format("expected float32, got {}", archive::dtype_name(tensor.dtype)));
      return;
    }
    const std::span values(reinterpret_cast<const float*>(tensor.data),
                           static_cast<std::size_t>(tensor.num_elements()));
    const auto bad = std::find_if_not(values.begin(), values.end(),
                                      [](float value) { return std::isfinite(value); });
    if (bad == values.end()) return;
    refuse(what + " " + named.name,
           fmt::format("expected finite numbers, element {} is {}", bad - values.begin(), *bad));
  }

  const Checkpoint& checkpoint_;
  Tensors parameters_;
  std::vector<std::string> problems_;
};

}  // namespace

Verified verify(const std::filesystem::path& path) {
  const Stopwatch stopwatch;
  Verified verified;
  verified.checkpoint = read(path);
  Checker checker(verified.checkpoint);
  checker.check_numbers();
  checker.check_layers();
  checker.check_moments();
  verified.config = checker.check_config();
  checker.finish(path.string());
  std::error_code ignored;  // the file may have been replaced
  verified.num_bytes = std::filesystem::file_size(path, ignored);
  verified.time_seconds = stopwatch.seconds();
  return verified;
}

ModelSize model_size(const Checkpoint& checkpoint) {
  ModelSize size;
  const Tensors parameters = parameters_of(checkpoint);
  for (const auto& [name, tensor] : parameters) size.num_parameters += tensor->num_elements();
  for (std::size_t layer = 0;; ++layer) {
    const auto found = parameters.find(fmt::format("layers.{}.weight", layer));
    if (found == parameters.end() || found->second->shape.size() != 2) return size;
    if (layer == 0) size.widths.push_back(found->second->shape[1]);
    size.widths.push_back(found->second->shape[0]);
  }
}

std::string data_file_state(const data::Fingerprint& saved) {
  std::error_code ignored;
  if (!std::filesystem::exists(saved.path, ignored)) return "missing";
  try {
    const data::Fingerprint now = data::fingerprint(saved.path);
    if (now.num_bytes == saved.num_bytes && now.crc32 == saved.crc32) return "unchanged";
    return fmt::format("changed: {} before, {} now", content_text(saved), content_text(now));
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace trainer::checkpoint
