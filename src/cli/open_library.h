// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

/// Loading of this program's libraries when a command first needs them.
namespace trainer::cli {

/// Returns the path of this program's library `stem` ("trainer_engine"), which exists if it was
/// built.
std::filesystem::path library_path(const std::string& stem);

/// kGlobal: libraries that are loaded later can use the symbols of this one.
enum class Symbols { kGlobal, kLocal };

/// Opens the library and returns the address of `symbol`, or nullptr with the reason in `reason`.
/// The library stays loaded.
void* symbol_in(const std::filesystem::path& library, const char* symbol, Symbols symbols,
                std::string& reason);

}  // namespace trainer::cli
