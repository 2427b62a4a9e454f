// SPDX-License-Identifier: Apache-2.0
#include "cli/help_text.h"

#include <fmt/format.h>

#include "trainer/core/version.h"
#include "trainer/run/system_info.h"

namespace trainer::cli {
namespace {

constexpr const char* kKeysAndExitCodes = R"(
Every configuration key can be set as key=value; they are listed by
`trainer config reference`.

Exit codes: 0 success, 1 failure, 2 usage or configuration, 3 data, 4 device,
  5 out of memory, 6 non-finite loss or gradient, 7 checkpoint, 8 file system,
  9 another process of the run lost, 129 SIGHUP, 130 SIGINT, 143 SIGTERM.)";

}  // namespace

std::string help_footer() {
  constexpr const char* kExamples = R"(Examples:
  trainer init --data table.csv --target price --output price.yaml
  trainer --config price.yaml
  trainer --config configs/train.yaml --lr 2e-3 model.hidden_sizes=[256,128]
  trainer --resume runs/latest
  trainer --config configs/train.yaml --print-config
  trainer config schedule --config configs/train.yaml
  trainer find-batch --config configs/train.yaml
  trainer predict runs/latest --data new.csv --output predictions.csv
  trainer eval runs/latest --data labeled.csv
  trainer inspect runs/latest
  trainer runs list --sort val.loss
  trainer report runs/latest
  trainer cv --config configs/train.yaml --folds 5
  trainer ensemble --config price.yaml --members 5
  trainer verify runs/latest
  trainer export runs/latest --output model.onnx
  trainer selftest resume
)";
  return fmt::format("{}{}", kExamples, kKeysAndExitCodes);
}

std::string train_help_footer() {
  constexpr const char* kExamples = R"(Examples:
  trainer --config configs/train.yaml
  trainer --config configs/train.yaml --lr 2e-3 model.hidden_sizes=[256,128]
  trainer --resume runs/latest
  trainer --config configs/train.yaml --resume auto
)";
  return fmt::format("{}{}", kExamples, kKeysAndExitCodes);
}

std::string version_text() {
  const BuildInfo& build = build_info();
  return fmt::format("trainer {} ({}{})\nLibTorch {}\nBLAS {}\nbuilt with {}, {}\n", build.version,
                     build.git_commit.substr(0, 12), build.git_dirty ? ", modified" : "",
                     build.libtorch, run::blas_info().name, build.compiler, build.build_type);
}

}  // namespace trainer::cli
