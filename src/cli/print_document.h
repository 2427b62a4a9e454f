// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "trainer/base/text/document.h"

namespace trainer::cli {

/// Returns the number of columns of the terminal at standard output, or 0 if it is not a terminal.
std::size_t output_width();

/// Writes `document` to standard output as JSON, or as text that is fitted to the terminal if there
/// is one.
void print_document(const Document& document, bool as_json);

}  // namespace trainer::cli
