// SPDX-License-Identifier: Apache-2.0
#include "cli/open_library.h"

#include <dlfcn.h>

#include "trainer/core/library_folder.h"

namespace trainer::cli {
std::filesystem::path library_path(const std::string& stem) {
  return library_folder() / library_file_name(stem);
}

void* symbol_in(const std::filesystem::path& library, const char* symbol, Symbols symbols,
                std::string& reason) {
  // By its full path: otherwise the RUNPATH of the caller of dlopen counts, which is that of the
  // sanitizer runtime under AddressSanitizer.
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
