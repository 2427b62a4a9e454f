// SPDX-License-Identifier: Apache-2.0
#include "trainer/base/io/optional_library.h"

#include <dlfcn.h>

#include <cstdlib>
#include <vector>

#include "trainer/base/io/library_folder.h"
#include "trainer/base/io/user_folders.h"

namespace trainer {
void* open_library(const OptionalLibrary& library, std::string& problem) {
  const std::string name = library_file_name(library.stem);
  std::vector<std::string> places;
  if (const char* named = std::getenv(library.variable); named != nullptr && *named != '\0') {
    places = {named};
  } else {
    if (const auto folder = data_folder()) places.push_back(*folder / name);
    places.push_back(name);
#ifdef __APPLE__
    // The folders of Homebrew, which the system does not search.
    places.insert(places.end(), {"/opt/homebrew/lib/" + name, "/usr/local/lib/" + name});
#endif
  }
  for (const std::string& place : places) {
    // RTLD_LOCAL: libraries that are loaded later must not bind to its symbols.
    if (void* handle = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL)) return handle;
    const char* message = dlerror();
    problem = message == nullptr ? "unknown reason" : message;
  }
  return nullptr;
}

}  // namespace trainer
