// SPDX-License-Identifier: Apache-2.0
#include "trainer/base/io/library_folder.h"

#include <dlfcn.h>

namespace trainer {

std::filesystem::path library_folder() {
  static const char kInThisLibrary = 0;
  Dl_info where{};
  if (dladdr(&kInThisLibrary, &where) == 0 || where.dli_fname == nullptr) return {};
  return std::filesystem::absolute(where.dli_fname).parent_path();
}

std::string library_file_name(const std::string& stem) {
#ifdef __APPLE__
  constexpr const char* kExtension = ".dylib";
#else
  constexpr const char* kExtension = ".so";
#endif
  return "lib" + stem + kExtension;
}

}  // namespace trainer
