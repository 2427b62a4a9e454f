// SPDX-License-Identifier: Apache-2.0
#include "trainer/device/error_text.h"

#include <c10/util/Exception.h>

namespace trainer::device {

std::string error_text(const std::exception& error) {
  const auto* libtorch = dynamic_cast<const c10::Error*>(&error);
  return libtorch == nullptr ? error.what() : libtorch->what_without_backtrace();
}

std::string error_line(const std::exception& error) {
  const std::string text = error_text(error);
  return text.substr(0, text.find('\n'));
}

}  // namespace trainer::device
