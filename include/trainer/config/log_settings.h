// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/config/logging_config.h"
#include "trainer/core/log.h"

namespace trainer::config {

/// The level of messages that logging.level asks for.
log::Level log_level(LogLevel level);

/// What the console has with that logging.format.
log::Format console_format(LogFormat format);

}  // namespace trainer::config
