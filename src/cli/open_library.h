// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

/// The libraries of this program that are opened when a command first needs them.
namespace trainer::cli {

/// Where the library `stem` ("trainer_engine") of this program stands, if it was built.
std::filesystem::path library_path(const std::string& stem);

/// Whether other libraries see its symbols.
enum class Symbols { kGlobal, kLocal };

/// The address of a symbol, or nullptr with the reason in `reason`. The library stays loaded.
void* symbol_in(const std::filesystem::path& library, const char* symbol, Symbols symbols,
                std::string& reason);

}  // namespace trainer::cli
