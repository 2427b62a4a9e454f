// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

namespace trainer::tracking {

/// Returns the note about a run, that is, the content of run::RunDir::note() without line breaks at
/// the end; empty if there is none.
std::string read_note(const std::filesystem::path& folder);

/// Replaces the note about a run; an empty text removes it. Throws Error(kFileSystem).
void write_note(const std::filesystem::path& folder, const std::string& text);

}  // namespace trainer::tracking
