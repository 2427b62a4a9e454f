// SPDX-License-Identifier: Apache-2.0
#include "trainer/run/checkpoint/verify.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "trainer/base/error.h"
#include "trainer/base/time/stopwatch.h"
#include "trainer/config/load.h"
#include "trainer/nn/spec/build.h"

namespace trainer::checkpoint {
namespace {

using archive::TensorData;

/// Collects the problems of a checkpoint that could be read.
class Checker {
 public:
  explicit Checker(const Checkpoint& checkpoint) : checkpoint_(checkpoint) {}

  void check_numbers() {
    for (const NamedTensor& named : checkpoint_.model) check_finite("model", named);
    for (const Moment& moment : checkpoint_.moments) {
      const std::string what = "optimizer moment " + moment.name;
      for (const NamedTensor& named : moment.tensors) check_finite(what, named);
    }
  }

  // Checks that the checkpoint has exactly the tensors of the network, and returns whether it does.
  bool check_tensors(const network::NetworkSpec& network) {
    const std::size_t num_before = problems_.size();
    std::map<std::string_view, const TensorData*> given;
    for (const NamedTensor& named : checkpoint_.model) given[named.name] = &named.tensor;
    for (const network::TensorSpec& expected : network::tensors(network)) {
      const auto found = given.extract(expected.name);
      if (found.empty()) {
        refuse("model " + expected.name, "missing tensor");
      } else if (found.mapped()->shape != expected.shape) {
        refuse("model " + expected.name,
               fmt::format("expected shape [{}], got [{}]", fmt::join(expected.shape, ", "),
                           fmt::join(found.mapped()->shape, ", ")));
      }
    }
    for (const auto& [name, ignored] : given) {
      refuse(fmt::format("model {}", name), "the network has no such tensor");
    }
    return problems_.size() == num_before;
  }

  void check_moments(const network::NetworkSpec& network) {
    const std::vector<network::TensorSpec> parameters = network::parameters(network);
    for (const Moment& moment : checkpoint_.moments) check_moment(moment, parameters);
  }

  // Returns the configuration, or nothing if it cannot be loaded.
  std::optional<config::Config> load_config() {
    try {
      return config::load({{"config", checkpoint_.config, ""}}, {}).config;
    } catch (const Error& error) {
      problems_.emplace_back(error.what());
      return std::nullopt;
    }
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
  void check_moment(const Moment& moment, const std::vector<network::TensorSpec>& parameters) {
    const std::string what = "optimizer moment " + moment.name;
    std::map<std::string_view, const network::TensorSpec*> missing;
    for (const network::TensorSpec& parameter : parameters) missing[parameter.name] = &parameter;
    for (const NamedTensor& named : moment.tensors) {
      const auto parameter = missing.extract(named.name);
      if (parameter.empty()) {
        refuse(what + " " + named.name, "the model has no parameter of this name");
      } else if (parameter.mapped()->shape != named.tensor.shape) {
        refuse(what + " " + named.name,
               fmt::format("expected the shape of the parameter, [{}], got [{}]",
                           fmt::join(parameter.mapped()->shape, ", "),
                           fmt::join(named.tensor.shape, ", ")));
      }
    }
    for (const auto& [name, ignored] : missing) {
      refuse(fmt::format("{} {}", what, name), "missing tensor");
    }
  }

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
  std::vector<std::string> problems_;
};

}  // namespace

VerifiedCheckpoint verify(const std::filesystem::path& path) {
  const Stopwatch stopwatch;
  VerifiedCheckpoint verified;
  verified.checkpoint = read(path);
  Checker checker(verified.checkpoint);
  checker.check_numbers();
  if (std::optional<config::Config> config = checker.load_config()) {
    verified.network = network::build(*config, verified.checkpoint.schema);
    verified.config = std::make_shared<const config::Config>(*std::move(config));
    // If the tensors do not fit the network, all moments would be reported as well.
    const bool fits = checker.check_tensors(verified.network);
    if (fits) checker.check_moments(verified.network);
  }
  checker.finish(path.string());
  std::error_code ignored;  // the file may have been replaced
  verified.num_bytes = std::filesystem::file_size(path, ignored);
  verified.time_seconds = stopwatch.seconds();
  return verified;
}

std::string data_file_state(const data::Fingerprint& saved) {
  if (saved.path == "data.query") return "not checked: the rows of a query";
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
