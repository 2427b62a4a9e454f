// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "trainer/report/tensorboard/event_file.h"

namespace trainer::tensorboard {

/// Returns the image as a PNG file (w3.org/TR/png-3), compressed without filters.
std::string png_bytes(const Image& image);

}  // namespace trainer::tensorboard
