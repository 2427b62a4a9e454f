// SPDX-License-Identifier: Apache-2.0
#include "trainer/config/logging_config.h"

namespace trainer::config {

log::Level log_level(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return log::Level::kDebug;
    case LogLevel::kInfo:
      return log::Level::kInfo;
    case LogLevel::kWarning:
      return log::Level::kWarning;
    case LogLevel::kError:
      break;
  }
  return log::Level::kError;
}

log::Format console_format(LogFormat format) {
  return format == LogFormat::kJsonConsole ? log::Format::kJson : log::Format::kText;
}

}  // namespace trainer::config
