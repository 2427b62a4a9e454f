// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

namespace trainer::tracking {

/// What somebody has noted about a run: the content of run::RunDir::note(), without line breaks
/// at the end; empty if there is none.
std::string read_note(const std::filesystem::path& folder);

/// Replaces the note; an empty one removes it. Throws Error(kFileSystem).
void write_note(const std::filesystem::path& folder, const std::string& text);

}  // namespace trainer::tracking
