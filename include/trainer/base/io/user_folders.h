// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace trainer {

// The folders of the user, by the XDG Base Directory Specification. Relative paths in the
// environment are ignored: files would be looked up in the current folder, to which other users may
// be able to write.

/// The path in HOME; nothing if HOME is not set to an absolute path.
std::optional<std::filesystem::path> home_folder();

/// The path that a shell would make of `text`: "~" before the first slash becomes the home folder;
/// nothing if that is needed but unknown.
std::optional<std::filesystem::path> with_home(const std::string& text);

/// XDG_DATA_HOME/trainer, else ~/.local/share/trainer; nothing if neither variable (XDG_DATA_HOME,
/// HOME) is an absolute path.
std::optional<std::filesystem::path> data_folder();

/// XDG_CACHE_HOME/trainer, else ~/.cache/trainer; nothing if neither variable (XDG_CACHE_HOME,
/// HOME) is an absolute path.
std::optional<std::filesystem::path> cache_folder();

/// The path in TMPDIR, or /tmp if that is not set. Throws Error(kFileSystem) unless it is an
/// absolute path of a folder.
std::filesystem::path temporary_folder();

}  // namespace trainer
