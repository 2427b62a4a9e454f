// SPDX-License-Identifier: Apache-2.0
#include "trainer/core/labeled_lines.h"

#include <fmt/format.h>

namespace trainer {

std::string labeled_line(std::string_view label, std::string_view value, int width) {
  return fmt::format("{:<{}} {}", label, width, value);
}

void LabeledLines::add(std::string_view label, std::string_view value) {
  text_ += labeled_line(label, value, width_) + '\n';
}

}  // namespace trainer
