// SPDX-License-Identifier: Apache-2.0
#include "trainer/run/folder/scalars.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "trainer/metrics/score.h"

namespace trainer::run {
namespace {

constexpr std::array<std::string_view, 4> kSplits = {"train", "validation", "val", "test"};
constexpr std::array<std::string_view, 6> kOfRun = {"learning_rate",      "grad_norm",
                                                    "samples_per_second", "loss_scale",
                                                    "memory_bytes",       "device_memory_bytes"};

bool is_of_run(std::string_view name) {
  return std::find(kOfRun.begin(), kOfRun.end(), name) != kOfRun.end();
}

bool is_of_split(const std::string& name) {
  return name == "loss" || name == "accuracy" || metrics::is_score(name);
}

std::string curve_split(const JsonReader& record) {
  const std::string split = record.text("split");
  // Only known names are accepted, because the split becomes the name of a folder.
  if (std::find(kSplits.begin(), kSplits.end(), split) == kSplits.end()) {
    record["split"].refuse("train, validation or test");
  }
  return record.has("time_seconds") ? split : split + "_steps";
}

}  // namespace

std::vector<Scalar> scalars(const JsonReader& record) {
  const std::string split = curve_split(record);
  std::vector<Scalar> result;
  for (const auto& [name, value] : record.entries()) {
    if (!value.is_number()) continue;
    if (is_of_split(name)) result.push_back({name, split, value.number()});
    if (is_of_run(name)) result.push_back({name, "", value.number()});
  }
  return result;
}

}  // namespace trainer::run
