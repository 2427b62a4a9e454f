// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "trainer/core/document.h"
#include "trainer/metrics/report.h"

namespace trainer::metrics {

/// "accuracy 97.78 %, F1 97.75 %, AUROC 0.9991, loss 0.0539".
std::string summary_text(const Report& report);

/// The summary under the name of `split`, behind it `remark`; the further scores; the baseline, and
/// a sentence where it is not beaten. Programs: {"rows", "loss", each score, "baseline": {each
/// score}}; what is not finite is null.
Document scores_document(const std::string& split, const Report& report,
                         const std::string& remark = "");

/// A table of the classes and the confusion matrix, or the pairs that are confused most where that
/// would be too wide for a page; a table of the targets, if there are several. Programs:
/// {"classes", "confusion_matrix", "targets"}.
Document details_document(const Report& report);

/// Scores and details as programs get them.
Json to_json(const Report& report);

}  // namespace trainer::metrics
