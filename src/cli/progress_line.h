// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "trainer/core/stopwatch.h"
#include "trainer/core/terminal.h"

namespace trainer::cli {

/// The first of `texts`, which are ASCII and ever shorter, that is shorter than `width`: a full
/// line would wrap and could not be redrawn. The last one is cut if necessary.
std::string first_that_fits(const std::vector<std::string>& texts, int width);

/// `reading the table  45 %  12.0 s left` in less than `width` columns, for the `part` of the work
/// that took `seconds`.
std::string long_work_text(std::string_view name, double part, double seconds, int width);

/// Shows from now on, as a ProgressLine, how far work is that takes long.
void show_long_work();

/// Shows progress on standard error: on a terminal, a line that is redrawn at most ten times a
/// second; otherwise, a plain line every 30 seconds. The time starts with the object.
class ProgressLine {
 public:
  /// Makes a line of less than `width` columns for `seconds` since the start.
  using MakeText = std::function<std::string(double seconds, int width)>;

  /// Shows what `make_text` returns if a line is due; whether it was.
  bool update(const MakeText& make_text);

 private:
  double interval() const { return terminal_.redraws ? 0.1 : 30; }

  Terminal terminal_ = standard_error_terminal();
  Stopwatch stopwatch_;
  double next_ = interval();
};

}  // namespace trainer::cli
