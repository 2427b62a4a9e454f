// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/base/io/log.h"

namespace trainer::test {

/// Shows nothing less than `min_level` on the console, for a scope.
class QuietLog {
 public:
  explicit QuietLog(log::Level min_level = log::Level::kError) {
    log::set_console_level(min_level);
  }
  ~QuietLog() { log::set_console_level(log::Level::kInfo); }
  QuietLog(const QuietLog&) = delete;
  QuietLog& operator=(const QuietLog&) = delete;
};

}  // namespace trainer::test
