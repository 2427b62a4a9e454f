// SPDX-License-Identifier: Apache-2.0
#include "cli/print_document.h"

#include <unistd.h>

#include <cstddef>

#include "trainer/core/print_safely.h"
#include "trainer/core/terminal.h"

#include "cli/common_options.h"

namespace trainer::cli {

void print_document(const Document& document, bool as_json) {
  if (as_json) {
    print_safely(result_text(document.json()));
    return;
  }
  const bool is_terminal = isatty(STDOUT_FILENO) == 1;
  const int width = is_terminal ? standard_output_terminal().width : 0;
  print_safely(document.text(static_cast<std::size_t>(width)));
}

}  // namespace trainer::cli
