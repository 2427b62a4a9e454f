// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace trainer::log {

/// kNone is no level of a message: with it, none is shown.
enum class Level { kDebug, kInfo, kWarning, kError, kNone };

/// Messages below `level` are not shown on the console.
void set_console_level(Level level);

/// From now on messages on the console begin with `prefix`.
void set_console_prefix(std::string prefix);

/// From now on every message of at least `level` also goes to `path`, appended as plain lines with
/// date and level. Throws Error(kFileSystem). A later failure to write, on a full disk for
/// example, is reported once on the console.
void open_file(const std::filesystem::path& path, Level level);

/// Writes buffered lines and closes the file of open_file().
void close_file();

/// Logs to the file of open_file() only, with level kInfo.
void note(std::string_view message);
/// Logs to the file with level kInfo, and to the console with level kDebug.
void detail(std::string_view message);
/// Logs to the console and to the file with level kDebug.
void debug(std::string_view message);
/// As debug(), with level kInfo.
void info(std::string_view message);
/// As debug(), with level kWarning.
void warning(std::string_view message);
/// As debug(), with level kError.
void error(std::string_view message);

/// Shows `text` in the last line of the terminal, in place of the previous status; messages appear
/// above it. Does nothing if the console is not a terminal.
void show_status(std::string_view text);
/// Removes the status line.
void clear_status();

}  // namespace trainer::log
