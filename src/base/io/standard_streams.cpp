// SPDX-License-Identifier: Apache-2.0
#include "trainer/base/io/standard_streams.h"

#include <fcntl.h>
#include <unistd.h>

namespace trainer {

void open_standard_streams() {
  int descriptor = -1;
  do {
    descriptor = ::open("/dev/null", O_RDWR);  // gets the lowest free descriptor
  } while (descriptor >= 0 && descriptor <= STDERR_FILENO);
  if (descriptor >= 0) ::close(descriptor);
}

}  // namespace trainer
