// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string_view>

namespace trainer::log {

enum class Level { kDebug, kInfo, kWarning, kError };

/// Messages below `level` are not shown on the console.
void set_console_level(Level level);

/// From now on every message of at least `level` also goes to `path`, appended as plain lines with
/// date and level. Throws Error(kFileSystem). A later failure to write there, on a full disk say,
/// is one warning on the console.
void open_file(const std::filesystem::path& path, Level level);

/// Writes buffered lines and closes the file of open_file().
void close_file();

/// Goes to the file of open_file() only, as a message of level kInfo.
void note(std::string_view message);
/// Goes to the file as a message of level kInfo, and to the console where it shows kDebug.
void detail(std::string_view message);
/// Goes to the console and to the file as a message of level kDebug, where they show it.
void debug(std::string_view message);
/// Likewise of level kInfo.
void info(std::string_view message);
/// Likewise of level kWarning.
void warning(std::string_view message);
/// Likewise of level kError.
void error(std::string_view message);

/// Draws `text` as the last line of the terminal in place of the status before; messages appear
/// above it. Does nothing where the console is not a terminal.
void show_status(std::string_view text);
/// Takes the status away from the last line.
void clear_status();

}  // namespace trainer::log
