// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "trainer/apply/evaluate.h"
#include "trainer/apply/model.h"
#include "trainer/base/text/json.h"

namespace trainer::report {

/// Returns charts of the outputs of a model beside the targets, as report.js reads them: for
/// classes ROC, precision and recall, reliability, and of two the distribution of the probability;
/// for numbers true against predicted, the residuals and their distribution.
Json prediction_charts(const apply::Model& model, const apply::SplitOutputs& found,
                       std::size_t run);

}  // namespace trainer::report
