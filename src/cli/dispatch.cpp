// SPDX-License-Identifier: Apache-2.0
#include "cli/dispatch.h"

#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "trainer/base/error.h"
#include "trainer/base/text/format.h"
#include "trainer/base/text/utf8.h"

#include "cli/answer_shell.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/progress_line.h"

namespace trainer::cli {
namespace {

// Arguments must be UTF-8, because they are written to configurations and JSON files.
void require_text(int argc, const char* const* argv) {
  for (int i = 1; i < argc; ++i) {
    if (is_utf8(argv[i])) continue;
    throw Error(ErrorKind::kUsage,
                fmt::format("command line: expected UTF-8 text, got {}; rename the file or folder",
                            in_quotes(argv[i])));
  }
}

}  // namespace

int dispatch(int argc, const char* const* argv) {
  if (argc > 1 && std::string_view(argv[1]) == kCompleteCommand) {
    const std::vector<std::string> arguments(argv + 2, argv + argc);
    fmt::print("{}", answer_shell(command_table(), arguments));
    return 0;
  }
  require_text(argc, argv);
  const CommandLine line = parse_command_line(command_table(), argc, argv);
  if (line.command != nullptr) {
    show_long_work();
    return line.command->run(line.common);
  }
  fmt::print("{}", line.text);
  return 0;
}

}  // namespace trainer::cli
