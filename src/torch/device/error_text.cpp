// SPDX-License-Identifier: Apache-2.0
#include "trainer/torch/device/error_text.h"

#include <cstddef>

#include <c10/util/Exception.h>

namespace trainer::device {

namespace {

// Removes the advice to disable the memory limit of MPS, because without it the whole system can
// fail.
std::string without_dangerous_advice(std::string text) {
  const std::size_t begin = text.find(" Use PYTORCH_MPS_HIGH_WATERMARK_RATIO=0.0 ");
  if (begin == std::string::npos) return text;
  const std::size_t end = text.find('.', text.find("limit for memory", begin));
  return text.erase(begin, end == std::string::npos ? end : end + 1 - begin);
}

}  // namespace

std::string error_text(const std::exception& error) {
  const auto* libtorch = dynamic_cast<const c10::Error*>(&error);
  return without_dangerous_advice(libtorch == nullptr ? error.what()
                                                      : libtorch->what_without_backtrace());
}

std::string error_line(const std::exception& error) {
  const std::string text = error_text(error);
  return text.substr(0, text.find('\n'));
}

}  // namespace trainer::device
