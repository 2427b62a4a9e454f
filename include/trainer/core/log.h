// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace trainer::log {

/// kNone is no level of a message: with it, none is shown.
enum class Level { kDebug, kInfo, kWarning, kError, kNone };

/// Messages below `level` are not shown on the console.
void set_console_level(Level level);

/// Messages are lines for people, or each is one line of JSON, with time (ISO 8601, UTC), level,
/// event, message and the fields of the event.
enum class Format { kText, kJson };

/// How the console has messages from now on. With JSON it has nothing else: no status line and no
/// colors.
void set_console_format(Format format);
/// How it has them now.
Format console_format();

/// The number of this process among those of a run. All but the first have it before their
/// messages, and with JSON each has it as a field. None: it is alone.
void set_rank(std::optional<int> rank);

/// From now on every message of at least `level` also goes to `path`, appended as plain lines with
/// date and level. Throws Error(kFileSystem). A later failure to write, on a full disk for
/// example, is reported once on the console.
void open_file(const std::filesystem::path& path, Level level);

/// From now on every message of at least `level` also goes to `path`, appended as a line of JSON.
/// Throws as open_file() does.
void open_json_file(const std::filesystem::path& path, Level level);

/// Writes buffered lines and closes the files of open_file() and open_json_file().
void close_file();

/// Whether the console or a file has JSON.
bool has_json();

/// Logs an event that programs look for: `message` like any other, and as JSON also its name and
/// its fields (an object). Other messages are the events message, warning and error.
void event(std::string_view name, std::string_view message, const nlohmann::ordered_json& fields,
           Level level = Level::kInfo);
/// The same for programs alone: where there is JSON, and nowhere else.
void record(std::string_view name, std::string_view message, const nlohmann::ordered_json& fields,
            Level level = Level::kInfo);
/// Logs a line of a text that follows an event and says the same as its fields: as info(), but not
/// where there is JSON.
void text_line(std::string_view line);
/// Logs a label and a value, a line of the overview of a run, as JSON the event overview. An empty
/// label continues the one before.
void overview(std::string_view label, std::string_view value);

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
/// As warning(); on the console only the first time, such as of several runs on the same data.
void warning_once(std::string_view message);
/// As debug(), with level kError.
void error(std::string_view message);

/// Shows `text` in the last line of the terminal, in place of the previous status; messages appear
/// above it. Does nothing if the console is not a terminal, or has JSON.
void show_status(std::string_view text);
/// Removes the status line.
void clear_status();

}  // namespace trainer::log
