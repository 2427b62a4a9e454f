// SPDX-License-Identifier: Apache-2.0
#include "cli/print_document.h"

#include <unistd.h>

#include <cstddef>

#include "trainer/base/io/terminal.h"
#include "trainer/base/text/print_safely.h"

#include "cli/agent.h"
#include "cli/common_options.h"

namespace trainer::cli {

std::size_t output_width() {
  const bool is_terminal = isatty(STDOUT_FILENO) == 1;
  return is_terminal ? static_cast<std::size_t>(standard_output_terminal().width) : 0;
}

std::string shown_text(const Document& document) {
  return is_for_agent() ? document.markdown() : document.text(output_width());
}

void print_document(const Document& document, bool as_json) {
  if (as_json) {
    print_safely(result_text(document.json()));
    return;
  }
  print_safely(shown_text(document));
}

}  // namespace trainer::cli
