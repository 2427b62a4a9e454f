// SPDX-License-Identifier: Apache-2.0
#include "trainer/base/io/terminal.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "trainer/base/text/parse.h"

namespace trainer {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

int terminal_width(int descriptor) {
  winsize size{};
  const bool known = ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : 80;
}

std::string locale() {
  for (const char* name : {"LC_ALL", "LC_CTYPE"}) {
    if (std::string value = variable(name); !value.empty()) return value;
  }
  return variable("LANG");
}

Terminal make_terminal(int descriptor) {
  Terminal terminal =
      decide_terminal({isatty(descriptor) == 1, variable("TERM"), variable("NO_COLOR"),
                       variable("FORCE_COLOR"), variable("CI"), locale()});
  terminal.width = terminal_width(descriptor);
  return terminal;
}

}  // namespace

Terminal decide_terminal(const TerminalEnvironment& environment) {
  const bool capable = environment.is_terminal && environment.term != "dumb";
  Terminal terminal;
  terminal.redraws = capable && environment.ci.empty();
  terminal.colors = !environment.force_color.empty() ||
                    (capable && environment.ci.empty() && environment.no_color.empty());
  const std::string locale = lower_case(environment.locale);
  terminal.unicode =
      locale.find("utf-8") != std::string::npos || locale.find("utf8") != std::string::npos;
  return terminal;
}

int standard_error_width() { return terminal_width(STDERR_FILENO); }

Terminal standard_error_terminal() { return make_terminal(STDERR_FILENO); }

Terminal standard_output_terminal() { return make_terminal(STDOUT_FILENO); }

bool output_may_reach_terminal() {
  struct stat status {};
  const bool is_known = fstat(STDOUT_FILENO, &status) == 0;
  return isatty(STDOUT_FILENO) == 1 ||
         (is_known && (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode)));
}

void open_standard_streams() {
  int descriptor = -1;
  do {
    descriptor = ::open("/dev/null", O_RDWR);  // gets the lowest free descriptor
  } while (descriptor >= 0 && descriptor <= STDERR_FILENO);
  if (descriptor >= 0) ::close(descriptor);
}

}  // namespace trainer
