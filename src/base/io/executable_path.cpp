// SPDX-License-Identifier: Apache-2.0
#include "trainer/base/io/executable_path.h"

#ifdef __APPLE__
#include <mach-o/dyld.h>
#endif

#include <string>
#include <system_error>

#include "trainer/base/error.h"

namespace trainer {

std::filesystem::path executable_path() {
#ifdef __APPLE__
  uint32_t size = 0;
  _NSGetExecutablePath(nullptr, &size);
  std::string path(size, '\0');
  if (_NSGetExecutablePath(path.data(), &size) == 0) {
    return std::filesystem::weakly_canonical(path.c_str());
  }
#else
  std::error_code error;
  std::filesystem::path path = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error) return path;
#endif
  throw Error(ErrorKind::kRuntime, "cannot determine the path of this program");
}

}  // namespace trainer
