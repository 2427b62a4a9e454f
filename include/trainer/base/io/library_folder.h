// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

namespace trainer {

/// The folder of the shared libraries of this program, in the build tree or where they are
/// installed; empty if the system does not know it.
std::filesystem::path library_folder();

/// The file name of a shared library on this system: "libduckdb.so" or "libduckdb.dylib".
std::string library_file_name(const std::string& stem);

}  // namespace trainer
