// SPDX-License-Identifier: Apache-2.0
// Says that it was loaded: it makes a file in the current folder, and ends the program.
#include <fcntl.h>
#include <unistd.h>

namespace {

__attribute__((constructor)) void leave_a_trace() {
  close(open("A_PLANTED_LIBRARY_RAN", O_CREAT | O_WRONLY, 0666));
  _exit(66);
}

}  // namespace
