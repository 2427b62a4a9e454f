// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "trainer/metrics/classification.h"
#include "trainer/report/tensorboard/event_file.h"

namespace trainer::tensorboard {

/// Returns a picture with a cell for each pair of classes, darker if more rows of the class at the
/// left were predicted as the class at the top. Up to 30 classes have their indices at the borders,
/// and the percentage of their rows in the cells.
Image draw_confusion(const metrics::ConfusionMatrix& confusion);

/// Returns the image as a PNG file (w3.org/TR/png-3), compressed without filters.
std::string png_bytes(const Image& image);

}  // namespace trainer::tensorboard
