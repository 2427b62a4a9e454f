// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "trainer/base/text/document.h"

namespace trainer::cli {

/// Returns the number of columns of the terminal at standard output, or 0 if it is not a terminal.
std::size_t output_width();

/// Returns the text of `document`, fitted to the terminal if there is one, or Markdown for an
/// agent.
std::string shown_text(const Document& document);

/// Writes `document` to standard output as JSON, or as shown_text().
void print_document(const Document& document, bool as_json);

}  // namespace trainer::cli
