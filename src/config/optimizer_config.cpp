// SPDX-License-Identifier: Apache-2.0
#include "trainer/config/optimizer_config.h"

#include <cmath>

#include "trainer/base/text/parse.h"

namespace trainer::config {

std::optional<LearningRateFactor> parse_lr_factor(std::string_view text) {
  const std::size_t equals = text.rfind('=');
  if (equals == 0 || equals == std::string_view::npos) return std::nullopt;
  const std::optional<double> factor = parse_double(text.substr(equals + 1));
  if (!factor || !std::isfinite(*factor) || *factor < 0) return std::nullopt;
  return LearningRateFactor{.pattern = std::string(text.substr(0, equals)), .factor = *factor};
}

}  // namespace trainer::config
