// SPDX-License-Identifier: Apache-2.0
#include "trainer/table/source/synthetic.h"

#include <cstddef>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "trainer/base/memory/process_memory.h"
#include "trainer/base/philox.h"
#include "trainer/base/text/format.h"

namespace trainer::data {
namespace {

// The streams of StreamId::kSynthetic.
constexpr uint64_t kCentreStream = 0;
constexpr uint64_t kNoiseStream = 1;

/// [num_classes, num_features]. An odd class lies opposite to the one before it, so that two
/// classes never share a centre.
std::vector<double> make_centres(const SyntheticOptions& options) {
  PhiloxStream random(options.seed, StreamId::kSynthetic, kCentreStream);
  const auto num_features = static_cast<size_t>(options.num_features);
  std::vector<double> centres(static_cast<size_t>(options.num_classes) * num_features);
  for (size_t i = 0; i < centres.size(); ++i) {
    const bool opposite = i / num_features % 2 == 1;
    if (opposite) {
      centres[i] = -centres[i - num_features];
    } else {
      centres[i] = random.below(2) == 0 ? options.separation : -options.separation;
    }
  }
  return centres;
}

}  // namespace

Table make_synthetic(const SyntheticOptions& options) {
  require_memory(
      options.num_samples * options.num_features * int64_t{sizeof(float)},
      fmt::format("data.synthetic: a table of {} rows and {} features",
                  with_thousands(options.num_samples), with_thousands(options.num_features)),
      "reduce data.synthetic.num_samples or data.synthetic.num_features");
  const std::vector<double> centres = make_centres(options);
  PhiloxStream random(options.seed, StreamId::kSynthetic, kNoiseStream);
  Table table;
  table.target_names = {"class"};
  table.targets.expect_labels();
  for (int64_t i = 0; i < options.num_features; ++i) {
    table.feature_names.push_back(fmt::format("feature_{}", i));
  }
  Array<float> values;
  values.reserve(static_cast<size_t>(options.num_samples * options.num_features));
  for (int64_t row = 0; row < options.num_samples; ++row) {
    const int64_t label = row % options.num_classes;
    const double* centre = centres.data() + label * options.num_features;
    for (int64_t i = 0; i < options.num_features; ++i) {
      values.push_back(static_cast<float>(centre[i] + random.normal()));
    }
    table.targets.push_back(fmt::format("{}", label));
  }
  table.features = {.num_rows = options.num_samples,
                    .num_columns = options.num_features,
                    .values = std::move(values)};
  return table;
}

}  // namespace trainer::data
