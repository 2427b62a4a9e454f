// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "trainer/core/document.h"

namespace trainer::cli {

/// Columns of the terminal at standard output; 0: there is none.
std::size_t output_width();

/// Writes `document` to standard output: as JSON, or as text that fits a terminal, if it is one.
void print_document(const Document& document, bool as_json);

}  // namespace trainer::cli
