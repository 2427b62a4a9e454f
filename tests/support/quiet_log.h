// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/core/log.h"

namespace trainer::test {

/// Shows nothing less than `least` on the console, for a scope.
class QuietLog {
 public:
  explicit QuietLog(log::Level least = log::Level::kError) { log::set_console_level(least); }
  ~QuietLog() { log::set_console_level(log::Level::kInfo); }
  QuietLog(const QuietLog&) = delete;
  QuietLog& operator=(const QuietLog&) = delete;
};

}  // namespace trainer::test
