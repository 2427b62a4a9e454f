// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace trainer {

// The folders of the user, by the XDG Base Directory Specification. A relative path in the
// environment names none: what is looked for there would be found in the current folder, which may
// be anybody's.

/// HOME; nothing where the environment names none.
std::optional<std::filesystem::path> home_folder();

/// The path that a shell would make of `text`: with the home folder for a "~" before its first
/// slash; nothing if the environment names none.
std::optional<std::filesystem::path> with_home(const std::string& text);

/// XDG_DATA_HOME/trainer, else ~/.local/share/trainer; nothing where the environment names none.
std::optional<std::filesystem::path> data_folder();

/// XDG_CACHE_HOME/trainer, else ~/.cache/trainer; nothing where the environment names none.
std::optional<std::filesystem::path> cache_folder();

/// TMPDIR, else /tmp.
/// Throws Error(kFileSystem) unless it is a folder with an absolute path.
std::filesystem::path temporary_folder();

}  // namespace trainer
