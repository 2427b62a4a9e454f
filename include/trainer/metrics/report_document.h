// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "trainer/base/text/document.h"
#include "trainer/metrics/report.h"

namespace trainer::metrics {

/// Returns the headline scores in one line, such as "accuracy 97.78 %, F1 97.75 %, AUROC 0.9991,
/// loss 0.0539".
std::string summary_text(const Report& report);

/// Returns the scores of a report. As text: the summary, labeled `split` and followed by `remark`;
/// all further scores; the baseline, and a sentence if the model does not beat it. As JSON:
/// {"rows", "loss", each score, "baseline": {each score}}; numbers that are not finite are null.
Document scores_document(const std::string& split, const Report& report,
                         const std::string& remark = "");

/// Returns the details of a report. As text: a table of the classes; the confusion matrix, or the
/// most confused pairs if that would be too wide; a table of the targets, if there are several. As
/// JSON: {"classes", "confusion_matrix", "targets"}.
Document details_document(const Report& report);

/// Returns the JSON of scores_document() and details_document() in one object.
Json to_json(const Report& report);

}  // namespace trainer::metrics
