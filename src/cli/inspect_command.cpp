// SPDX-License-Identifier: Apache-2.0
#include "cli/inspect_command.h"

#include <fmt/format.h>

#include "trainer/apply/inspect.h"

namespace trainer::cli {

int inspect_command(const Arguments& arguments) {
  const apply::Inspected inspected = apply::inspect(arguments.paths.front());
  if (arguments.json) {
    fmt::print("{}\n", apply::inspection_json(inspected));
  } else {
    fmt::print("{}", apply::inspection_text(inspected));
  }
  return 0;
}

}  // namespace trainer::cli
