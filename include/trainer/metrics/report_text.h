// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "trainer/metrics/report.h"

namespace trainer::metrics {

/// {"rows", "loss", each score, "baseline": {each score}, "classes", "confusion_matrix",
/// "targets"}; what is not finite is null.
nlohmann::ordered_json to_json(const Report& report);

/// "accuracy 97.78 %, F1 97.75 %, AUROC 0.9991, loss 0.0539".
std::string summary_text(const Report& report);

/// Lines of a name and a text: the summary under the name of `split`, behind it `remark`; the
/// further scores; the baseline, and a sentence where it is not beaten. Each ends with a line
/// break.
std::string result_lines(const std::string& split, const Report& report,
                         const std::string& remark = "");

/// A table of the classes and the confusion matrix, or the pairs that are confused most where that
/// would be too wide for a page; a table of the targets; nothing for a single target. Lines end
/// with line breaks.
std::string details_text(const Report& report);

}  // namespace trainer::metrics
