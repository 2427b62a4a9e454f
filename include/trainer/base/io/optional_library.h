// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace trainer {

/// A third-party library that is loaded at run time and may be missing.
struct OptionalLibrary {
  const char* variable;  // environment variable with the path of the library
  std::string stem;      // file name without "lib" and the extension: "duckdb"
};

/// Loads the library from the path in the environment variable; if that is not set, from
/// data_folder(), else from where the system finds it. Returns nullptr if none can be loaded;
/// `problem` then has the system's message for the last path that was tried.
void* open_library(const OptionalLibrary& library, std::string& problem);

/// The paths of the shared libraries that are loaded into this process, without symbolic links.
std::vector<std::filesystem::path> loaded_libraries();

/// The path of the running program. Throws Error(kRuntime) if the system does not know it.
std::filesystem::path executable_path();

/// The folder of the shared libraries of this program, in the build tree or where they are
/// installed; empty if the system does not know it.
std::filesystem::path library_folder();

/// The path of this program's library `stem` ("trainer_engine"), which exists if it was built.
std::filesystem::path library_path(const std::string& stem);

/// The file name of a shared library on this system: "libduckdb.so" or "libduckdb.dylib".
std::string library_file_name(const std::string& stem);

}  // namespace trainer
