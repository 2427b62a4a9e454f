// SPDX-License-Identifier: Apache-2.0
#include "cli/open_library.h"

#include <dlfcn.h>

#include "trainer/base/io/library_folder.h"

namespace trainer::cli {
std::filesystem::path library_path(const std::string& stem) {
  return library_folder() / library_file_name(stem);
}

void* symbol_in(const std::filesystem::path& library, const char* symbol, Symbols symbols,
                std::string& reason) {
  // `library` must be a full path: for a bare name, dlopen searches the RUNPATH of its caller,
  // which under AddressSanitizer is the sanitizer runtime.
  const int scope = symbols == Symbols::kGlobal ? RTLD_GLOBAL : RTLD_LOCAL;
  void* handle = dlopen(library.c_str(), RTLD_NOW | scope);
  void* address = handle == nullptr ? nullptr : dlsym(handle, symbol);
  if (address == nullptr) {
    const char* message = dlerror();
    reason = message == nullptr ? "unknown reason" : message;
  }
  return address;
}

}  // namespace trainer::cli
