// SPDX-License-Identifier: Apache-2.0
#include "trainer/base/io/sysctl.h"

#ifdef __APPLE__
#include <sys/sysctl.h>

#include <cstddef>
#endif

namespace trainer {

std::string sysctl_text(const char* name) {
#ifdef __APPLE__
  char text[256] = {};
  std::size_t size = sizeof text - 1;
  if (sysctlbyname(name, text, &size, nullptr, 0) == 0) return text;
#endif
  static_cast<void>(name);
  return "";
}

}  // namespace trainer
