// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace trainer::log {

/// The importance of a message. kNone is only for set_console_level(), where it hides all messages.
enum class Level { kDebug, kInfo, kWarning, kError, kNone };

/// Messages below `level` are not shown on the console.
void set_console_level(Level level);

/// kText: messages are lines for people. kJson: each message is one line of JSON with its time (ISO
/// 8601, UTC), level, event, message and the fields of the event.
enum class Format { kText, kJson };

/// Sets the format of messages on the console. With kJson the console gets nothing but JSON lines:
/// no status line and no colors.
void set_console_format(Format format);
/// The format of messages on the console; kText unless set_console_format() changed it.
Format console_format();

/// Sets the rank of this process among the processes of a run. Ranks above 0 show it before their
/// messages; JSON lines of any rank have it as a field. Nothing: the process is alone.
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

/// Whether messages go to the console or to a file as JSON.
bool has_json();

/// Logs an event that programs look for: `message` like any other message, and in JSON also `name`
/// and `fields` (an object). Other messages have the event names message, warning and error.
void event(std::string_view name, std::string_view message, const nlohmann::ordered_json& fields,
           Level level = Level::kInfo);
/// Logs an event like event(), but only to a console or file that gets JSON.
void record(std::string_view name, std::string_view message, const nlohmann::ordered_json& fields,
            Level level = Level::kInfo);
/// Logs a line of text that repeats the fields of an event for people: like info(), but not as
/// JSON.
void text_line(std::string_view line);
/// Logs a label and a value, one line of the overview of a run; in JSON this is an event named
/// overview. An empty label continues the one before.
void overview(std::string_view label, std::string_view value);

/// Logs to the file of open_file() only, with level kInfo.
void note(std::string_view message);
/// Logs to the file with level kInfo, and to the console with level kDebug.
void detail(std::string_view message);
/// Logs to the console and to the file with level kDebug.
void debug(std::string_view message);
/// Logs to the console and to the file with level kInfo.
void info(std::string_view message);
/// Logs to the console and to the file with level kWarning.
void warning(std::string_view message);
/// Like warning(), but the console gets it only once, for example when several runs read the same
/// data. Numbers outside of quotes do not make messages different.
void warning_once(std::string_view message);
/// Logs to the console and to the file with level kError.
void error(std::string_view message);

/// Shows `text` in the last line of the terminal, in place of the previous status; messages appear
/// above it. Does nothing if the console is not a terminal, or has JSON.
void show_status(std::string_view text);
/// Removes the status line from the terminal until show_status() is called again.
void clear_status();

}  // namespace trainer::log
