// SPDX-License-Identifier: Apache-2.0
#include "trainer/base/io/optional_library.h"

#include <dlfcn.h>

#include <cstddef>
#include <cstdlib>
#include <string>
#include <system_error>
#include <vector>

#include "trainer/base/error.h"
#include "trainer/base/io/user_folders.h"

#ifdef __APPLE__
#include <mach-o/dyld.h>
#else
#include <link.h>
#endif

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

std::vector<std::filesystem::path> loaded_libraries() {
  std::vector<std::filesystem::path> libraries;
#ifdef __APPLE__
  for (uint32_t i = 0; i < _dyld_image_count(); ++i) {
    libraries.emplace_back(_dyld_get_image_name(i));
  }
#else
  const auto add = [](dl_phdr_info* info, std::size_t /*size*/, void* all) {
    static_cast<std::vector<std::filesystem::path>*>(all)->emplace_back(info->dlpi_name);
    return 0;
  };
  dl_iterate_phdr(add, &libraries);
#endif
  for (std::filesystem::path& library : libraries) {
    std::error_code error;
    if (auto path = std::filesystem::weakly_canonical(library, error); !error) library = path;
  }
  return libraries;
}

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

std::filesystem::path library_folder() {
#ifdef TRAINER_STATIC
  // The loader knows a program by the name that it was called by, which may have no folder.
  return executable_path().parent_path();
#else
  static const char kInThisLibrary = 0;
  Dl_info where{};
  if (dladdr(&kInThisLibrary, &where) == 0 || where.dli_fname == nullptr) return {};
  return std::filesystem::absolute(where.dli_fname).parent_path();
#endif
}

std::filesystem::path library_path(const std::string& stem) {
  return library_folder() / library_file_name(stem);
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
