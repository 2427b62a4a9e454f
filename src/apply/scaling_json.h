// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

#include "trainer/data/scaling.h"

namespace trainer::apply {

/// `shift`, `scale` and, where there are some, `offset` of each feature or target.
inline nlohmann::ordered_json scaling_json(const data::Scaling& scaling) {
  nlohmann::ordered_json json = {{"shift", scaling.shift}, {"scale", scaling.scale}};
  if (!scaling.offset.empty()) json["offset"] = scaling.offset;
  return json;
}

}  // namespace trainer::apply
