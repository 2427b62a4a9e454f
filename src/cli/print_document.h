// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/core/document.h"

namespace trainer::cli {

/// Writes `document` to standard output: as JSON, or as text that fits a terminal, if it is one.
void print_document(const Document& document, bool as_json);

}  // namespace trainer::cli
