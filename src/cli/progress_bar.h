// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "trainer/base/io/terminal.h"
#include "trainer/base/time/stopwatch.h"
#include "trainer/run/folder/metrics_log.h"

namespace trainer::cli {

/// The other runs of the series that a run belongs to.
struct OtherRuns {
  std::string name = {};  // of this run, such as "fold 2/5"; empty: it is the only one
  int64_t num_left = 0;   // number of other runs that are not complete yet
  int64_t num_trained_at_once = 1;
  double mean_seconds = 0;  // mean time of the runs that are complete; 0: none is
};

/// Returns the progress of a run in less than `width` columns: `fold 2/5  epoch 3/30 [#####-----]
/// 45 %  12,345 samples/s  loss 0.1234  12.0 s left`. If that is too long, parts are omitted, the
/// remaining time last. That is the time until all runs are complete: from the epochs that are left
/// and the speed, or from the time of the runs before where these may end early. "at most" if the
/// run may end early and there was none before. `seconds` is the time since its start.
std::string progress_text(const run::Progress& progress, const OtherRuns& others, double seconds,
                          int width);

/// Returns a listener that shows the progress of a run as a ProgressLine. The time starts at its
/// first call.
run::ProgressListener make_progress_listener(OtherRuns others = {});

/// Returns the first of `texts` that is shorter than `width`, because a full line would wrap and
/// could not be redrawn. The texts are ASCII, the longest first; the last one is cut if necessary.
std::string first_that_fits(const std::vector<std::string>& texts, int width);

/// Returns a text such as `reading the table  45 %  12.0 s left` in less than `width` columns.
/// `part`, from 0 to 1, is the fraction of the work that is done after `seconds`; 0 if it is not
/// known.
std::string long_work_text(std::string_view name, double part, double seconds, int width);

/// Shows the progress of long work (base/time/long_work.h) as a ProgressLine from now on.
void show_long_work();

/// Shows progress on standard error: on a terminal, a line that is redrawn at most ten times a
/// second; otherwise, a plain line every 30 seconds. The time starts when the object is created.
class ProgressLine {
 public:
  /// Returns a line of less than `width` columns. `seconds` is the time since the object was
  /// created.
  using MakeText = std::function<std::string(double seconds, int width)>;

  /// Shows the text from `make_text` if the next line is due, and returns whether it was.
  bool update(const MakeText& make_text);

 private:
  double interval() const { return terminal_.redraws ? 0.1 : 30; }

  Terminal terminal_ = standard_error_terminal();
  Stopwatch stopwatch_;
  double next_ = interval();
};

}  // namespace trainer::cli
