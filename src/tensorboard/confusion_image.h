// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/metrics/classification.h"
#include "trainer/tensorboard/event_file.h"

namespace trainer::tensorboard {

/// A cell for each pair of classes, darker where more of the rows of the class at the left were
/// predicted as the class above. Up to 30 classes have their indices at the borders and the percent
/// of their rows in the cells.
Image draw_confusion(const metrics::ConfusionMatrix& confusion);

}  // namespace trainer::tensorboard
