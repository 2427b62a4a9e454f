// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "trainer/base/io/log.h"
#include "trainer/base/text/enum_names.h"

namespace trainer::config {

enum class LogLevel { kDebug, kInfo, kWarning, kError };
enum class LogFormat { kText, kJson, kJsonConsole };

/// The keys of the section `logging`: what a run logs and which files it writes for other tools.
struct LoggingConfig {
  LogLevel level = LogLevel::kInfo;
  LogFormat format = LogFormat::kText;
  int64_t save_interval = 50;
  bool report = false;
  bool tensorboard = false;
  int64_t histogram_interval = 0;  // steps; 0: at the end of each epoch
};

}  // namespace trainer::config

namespace trainer {

template <>
std::span<const std::string> enum_names<config::LogLevel>();
template <>
std::span<const std::string> enum_names<config::LogFormat>();

}  // namespace trainer

namespace trainer::config {

/// Returns the lowest level of messages that logging.level asks for.
log::Level log_level(LogLevel level);

/// Returns the format of messages on the console for this value of logging.format.
log::Format console_format(LogFormat format);

}  // namespace trainer::config
