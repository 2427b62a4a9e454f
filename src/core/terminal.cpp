// SPDX-License-Identifier: Apache-2.0
#include "trainer/core/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>

namespace trainer {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

int width_of(int descriptor) {
  winsize size{};
  const bool known = ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : 80;
}

}  // namespace

Terminal decide_terminal(const TerminalEnvironment& environment) {
  const bool capable = environment.is_terminal && environment.term != "dumb";
  Terminal terminal;
  terminal.redraws = capable && environment.ci.empty();
  terminal.colours = !environment.force_color.empty() ||
                     (capable && environment.ci.empty() && environment.no_color.empty());
  return terminal;
}

Terminal standard_error_terminal() {
  Terminal terminal =
      decide_terminal({isatty(STDERR_FILENO) == 1, variable("TERM"), variable("NO_COLOR"),
                       variable("FORCE_COLOR"), variable("CI")});
  terminal.width = width_of(STDERR_FILENO);
  return terminal;
}

}  // namespace trainer
