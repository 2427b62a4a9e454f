// SPDX-License-Identifier: Apache-2.0
// Of a program with TRAINER_STATIC: what std::random_device in the archive of GCC's library takes
// from glibc 2.36. With this, glibc 2.35 does (Ubuntu 22.04).

#include <unistd.h>

#include <cstdint>
#include <cstdlib>

extern "C" uint32_t arc4random() noexcept {
  uint32_t number = 0;
  if (getentropy(&number, sizeof number) != 0) std::abort();
  return number;
}
