// SPDX-License-Identifier: Apache-2.0
#include "trainer/run/checkpoint/weights.h"

#include <algorithm>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "trainer/base/archive/archive.h"
#include "trainer/base/archive/safetensors.h"
#include "trainer/base/error.h"
#include "trainer/base/text/parse.h"

namespace trainer::checkpoint {
namespace {

using archive::Dict;
using archive::TensorData;

bool is_state_dict(const Dict& dict) {
  return !dict.empty() && std::all_of(dict.begin(), dict.end(), [](const auto& entry) {
    return entry.second.template get_if<TensorData>() != nullptr;
  });
}

const Dict& find_state_dict(const Dict& root, const std::filesystem::path& path) {
  if (is_state_dict(root)) return root;
  for (const char* key : {"model", "state_dict", "model_state_dict"}) {
    const archive::Value* value = archive::find(root, key);
    const Dict* dict = value == nullptr ? nullptr : value->get_if<Dict>();
    if (dict != nullptr && is_state_dict(*dict)) return *dict;
  }
  throw Error(
      ErrorKind::kCheckpoint,
      fmt::format(
          "{}: expected a state dict, or one under \"model\", \"state_dict\" or "
          "\"model_state_dict\", found none; save it with torch.save(model.state_dict(), path)",
          path.string()));
}

// Splits "4.weight": returns 4 and sets `rest` to "weight". Returns -1 for other names.
int64_t index_in_sequence(const std::string& name, std::string& rest) {
  const std::size_t dot = name.find('.');
  if (dot == std::string::npos) return -1;
  rest = name.substr(dot + 1);
  return parse_int(name.substr(0, dot)).value_or(-1);
}

/// A layer of a network that is a module with weights in nn.Sequential: a linear layer or a norm.
struct Module {
  std::string name;
  std::size_t num_dimensions;  // dimensions of its weight
};

std::vector<Module> list_modules(const network::NetworkSpec& network) {
  std::vector<Module> modules;
  const auto add_norm = [&](const auto& norm) { modules.push_back({norm.name, 1}); };
  for (const network::Layer& layer : network.layers) {
    if (const auto* linear = std::get_if<network::Linear>(&layer)) {
      modules.push_back({linear->name, 2});
    } else if (const auto* batch_norm = std::get_if<network::BatchNorm>(&layer)) {
      add_norm(*batch_norm);
    } else if (const auto* layer_norm = std::get_if<network::LayerNorm>(&layer)) {
      add_norm(*layer_norm);
    }
  }
  return modules;
}

// Maps the indices of modules in nn.Sequential to names of layers: each module gets the name of the
// next layer of its kind. A module that the network lacks gets no name.
std::map<int64_t, std::string> names_of_modules(const std::vector<NamedTensor>& weights,
                                                const network::NetworkSpec& network) {
  std::map<int64_t, std::size_t> dimensions;  // dimensions of the weight of each module
  for (const NamedTensor& named : weights) {
    std::string rest;
    const int64_t index = index_in_sequence(named.name, rest);
    if (index < 0) return {};  // not an nn.Sequential
    if (rest == "weight") dimensions[index] = named.tensor.shape.size();
  }
  const std::vector<Module> modules = list_modules(network);
  auto next = modules.begin();
  std::map<int64_t, std::string> names;
  for (const auto& [index, num_dimensions] : dimensions) {
    const auto found =
        std::find_if(next, modules.end(), [wanted = num_dimensions](const Module& module) {
          return module.num_dimensions == wanted;
        });
    if (found == modules.end()) continue;
    names[index] = found->name;
    next = found + 1;
  }
  return names;
}

void rename_sequential(std::vector<NamedTensor>& weights, const network::NetworkSpec& network) {
  const std::map<int64_t, std::string> names = names_of_modules(weights, network);
  for (NamedTensor& named : weights) {
    std::string rest;
    const auto found = names.find(index_in_sequence(named.name, rest));
    if (found != names.end()) named.name = fmt::format("{}.{}", found->second, rest);
  }
}

}  // namespace

std::vector<NamedTensor> read_weights(const std::filesystem::path& path,
                                      const network::NetworkSpec& network) {
  std::vector<NamedTensor> weights;
  const auto add = [&](const std::string& name, const TensorData& tensor) {
    if (!name.ends_with("num_batches_tracked")) weights.push_back({name, tensor});
  };
  if (archive::is_safetensors(path)) {
    for (const auto& [name, tensor] : archive::read_safetensors(path).tensors) add(name, tensor);
  } else {
    const Dict root = archive::load(path);
    for (const auto& [name, value] : find_state_dict(root, path)) {
      add(name, *value.get_if<TensorData>());
    }
  }
  rename_sequential(weights, network);
  return weights;
}

}  // namespace trainer::checkpoint
