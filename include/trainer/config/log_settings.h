// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/base/io/log.h"
#include "trainer/config/logging_config.h"

namespace trainer::config {

/// Returns the lowest level of messages that logging.level asks for.
log::Level log_level(LogLevel level);

/// Returns the format of messages on the console for this value of logging.format.
log::Format console_format(LogFormat format);

}  // namespace trainer::config
