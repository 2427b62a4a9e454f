// SPDX-License-Identifier: Apache-2.0
#include "trainer/base/io/log.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <spdlog/formatter.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/basic_file_sink.h>

#include "trainer/base/error.h"
#include "trainer/base/io/terminal.h"
#include "trainer/base/text/json.h"
#include "trainer/base/text/print_safely.h"
#include "trainer/base/text/text_table.h"

namespace trainer::log {
namespace {

spdlog::level::level_enum spdlog_level(Level level) {
  switch (level) {
    case Level::kDebug:
      return spdlog::level::debug;
    case Level::kInfo:
      return spdlog::level::info;
    case Level::kWarning:
      return spdlog::level::warn;
    case Level::kError:
      return spdlog::level::err;
    case Level::kNone:
      return spdlog::level::off;
  }
  return spdlog::level::info;
}

/// The name and the fields that the JSON line of a message has in addition to the text.
struct Event {
  std::string_view name;
  const Json& fields;
};

// The event of the message that this thread is logging; null for a message without one.
thread_local const Event* current_event = nullptr;

struct Mark {
  const char* prefix;
  const char* color;
};

Mark level_mark(spdlog::level::level_enum level) {
  switch (level) {
    case spdlog::level::warn:
      return {"warning: ", "\x1b[33m"};
    case spdlog::level::err:
    case spdlog::level::critical:
      return {"error: ", "\x1b[31m"};
    case spdlog::level::debug:
      return {"debug: ", "\x1b[2m"};
    case spdlog::level::trace:
    case spdlog::level::info:
    case spdlog::level::off:
    case spdlog::level::n_levels:
      break;
  }
  return {"", ""};
}

const char* level_name(spdlog::level::level_enum level) {
  switch (level) {
    case spdlog::level::debug:
      return "debug";
    case spdlog::level::warn:
      return "warning";
    case spdlog::level::err:
    case spdlog::level::critical:
      return "error";
    case spdlog::level::trace:
    case spdlog::level::info:
    case spdlog::level::off:
    case spdlog::level::n_levels:
      break;
  }
  return "info";
}

// The time in UTC as ISO 8601 has it: "2026-11-25T10:00:00.123Z".
std::string utc_time(spdlog::log_clock::time_point time) {
  const auto since = std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch());
  constexpr int64_t kPerSecond = 1000;
  const std::time_t seconds = since.count() / kPerSecond;
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", utc.tm_year + 1900,
                     utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec,
                     since.count() % kPerSecond);
}

// One line of JSON. File names may not be valid UTF-8: their invalid bytes become the replacement
// character.
std::string json_line(const spdlog::details::log_msg& message, std::optional<int> rank) {
  const std::string level = level_name(message.level);
  const bool is_message = message.level <= spdlog::level::info;
  Json line = {{"time", utc_time(message.time)},
               {"level", level},
               {"event", is_message ? "message" : level},
               {"message", std::string(message.payload.data(), message.payload.size())}};
  if (rank) line["rank"] = *rank;
  if (current_event != nullptr) {
    line["event"] = current_event->name;
    line.insert(current_event->fields.begin(), current_event->fields.end());  // replaces no entry
  }
  return safe_for_terminal(line.dump(-1, ' ', false, Json::error_handler_t::replace)) + "\n";
}

/// Makes spdlog write each message to a file as a line of JSON.
class JsonFormatter : public spdlog::formatter {
 public:
  explicit JsonFormatter(std::optional<int> rank) : rank_(rank) {}

  void format(const spdlog::details::log_msg& message, spdlog::memory_buf_t& line) override {
    const std::string text = json_line(message, rank_);
    line.append(text.data(), text.data() + text.size());
  }
  std::unique_ptr<spdlog::formatter> clone() const override {
    return std::make_unique<JsonFormatter>(rank_);
  }

 private:
  std::optional<int> rank_;
};

// The length of what lines that follow `line` are indented by: its label with the spaces behind it,
// or else a few characters.
std::size_t hanging_begin(std::string_view line) {
  constexpr std::size_t kUsual = 2;
  constexpr std::size_t kMost = 30;
  const std::size_t gap = line.find("  ");
  const std::size_t value = line.find_first_not_of(' ', gap);
  if (gap != std::string_view::npos && value <= kMost) return value;
  const auto is_ascii = [](char c) { return static_cast<unsigned char>(c) < 0x80; };
  const bool is_plain = line.size() > kUsual && is_ascii(line[0]) && is_ascii(line[1]);
  return is_plain ? kUsual : 0;
}

// The lines of a message behind `mark` ("warning: "), wrapped between words to `width` columns.
std::string wrapped_message(std::string_view mark, std::string_view message, std::size_t width) {
  std::string text;
  for (std::size_t begin = 0; begin <= message.size();) {
    const std::size_t end = std::min(message.find('\n', begin), message.size());
    std::string line(message.substr(begin, end - begin));
    std::size_t indent = hanging_begin(line);
    if (begin == 0 && !mark.empty()) {
      line.insert(0, mark);
      indent = mark.size();
    }
    text += hanging(line.substr(0, indent), line.substr(indent), width);
    begin = end + 1;
  }
  return text;
}

/// Standard error: messages scroll above a status line that is redrawn.
class ConsoleSink : public spdlog::sinks::base_sink<std::mutex> {
 public:
  ConsoleSink() : terminal_(standard_error_terminal()) {}

  void show_status(std::string_view text) {
    const std::lock_guard lock(mutex_);
    if (!terminal_.redraws || format_ == Format::kJson) return;
    std::string status = safe_for_terminal(text);
    if (status == status_) return;
    status_ = std::move(status);
    write("\r" + status_ + "\x1b[K");
  }

  void set_rank(std::optional<int> rank) {
    const std::lock_guard lock(mutex_);
    rank_ = rank;
  }

  std::optional<int> rank() {
    const std::lock_guard lock(mutex_);
    return rank_;
  }

  void set_format(Format format) {
    const std::lock_guard lock(mutex_);
    format_ = format;
  }

  Format format() {
    const std::lock_guard lock(mutex_);
    return format_;
  }

  void clear_status() {
    const std::lock_guard lock(mutex_);
    if (status_.empty()) return;
    status_.clear();
    write("\r\x1b[K");
  }

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    if (format_ == Format::kJson) {
      write(json_line(message, rank_));
      return;
    }
    const Mark mark = level_mark(message.level);
    const std::string prefix = rank_.value_or(0) > 0 ? fmt::format("[rank {}] ", *rank_) : "";
    const std::string_view payload(message.payload.data(), message.payload.size());
    const bool colored = terminal_.colors && *mark.color != '\0';
    const std::string before = status_.empty() ? "" : "\r\x1b[K";
    const std::size_t width =
        terminal_.redraws ? static_cast<std::size_t>(standard_error_width()) : 0;
    std::string lines = wrapped_message(prefix + mark.prefix, payload, width);
    if (colored) {
      const std::size_t begin = prefix.size();
      lines.insert(begin + std::string_view(mark.prefix).size(), "\x1b[0m")
          .insert(begin, mark.color);
    }
    write(before + lines + status_);
  }
  void flush_() override { std::fflush(stderr); }

 private:
  static void write(const std::string& text) {
    std::fwrite(text.data(), 1, text.size(), stderr);
    std::fflush(stderr);
  }

  Terminal terminal_;
  Format format_ = Format::kText;
  std::optional<int> rank_;
  std::string status_;
};

// "No space left on device" of spdlog's "Failed flush to file runs/train.log: No space left ...".
std::string_view reason_in(std::string_view problem) {
  const std::size_t colon = problem.rfind(": ");
  return colon == std::string_view::npos ? problem : problem.substr(colon + 2);
}

using FileSink = std::shared_ptr<spdlog::sinks::basic_file_sink_mt>;

struct Log {
  std::shared_ptr<ConsoleSink> console = std::make_shared<ConsoleSink>();
  FileSink file;
  FileSink json_file;
  std::set<std::string> failed_files;
  spdlog::logger logger{"trainer", console};
  std::string label;           // the last one of overview() that was not empty
  std::set<std::string> said;  // messages of warning_once(), see without_counts()

  Log() {
    logger.set_level(spdlog::level::debug);  // each sink has its own level
    logger.set_error_handler([this](const std::string& problem) { report_file(problem); });
  }

  // Warns once per file, and on the console only. A log that cannot be written, on a full disk for
  // example, does not stop the run; files that the run needs throw their own errors.
  void report_file(std::string_view problem) {
    for (const FileSink& sink : {json_file, file}) {
      // spdlog's message has the name of the file.
      if (sink == nullptr || problem.find(sink->filename()) == std::string_view::npos) continue;
      if (!failed_files.insert(sink->filename()).second) return;
      const std::string message =
          fmt::format("cannot write {}: {}; messages will be missing from this file",
                      sink->filename(), reason_in(problem));
      if (console->should_log(spdlog::level::warn)) {
        console->log({logger.name(), spdlog::level::warn, safe_for_terminal(message)});
      }
      return;
    }
  }
};

Log& instance() {
  static Log log;
  return log;
}

// Logs a message to all sinks, with control characters escaped: it may contain text from data,
// names, libraries and other processes.
void write(spdlog::level::level_enum level, std::string_view message) {
  instance().logger.log(level, safe_for_terminal(message));
}

// The message without its digits outside of quotes: two runs that warn of the same problem differ
// in epochs and numbers of rows, but not in quoted names.
std::string without_counts(std::string_view message) {
  std::string text;
  bool is_quoted = false;
  for (const char c : message) {
    if (c == '"') is_quoted = !is_quoted;
    if (is_quoted || c < '0' || c > '9') text += c;
  }
  return text;
}

void write_to(spdlog::sinks::sink* sink, std::string_view message, Level level = Level::kInfo) {
  if (sink == nullptr || !sink->should_log(spdlog_level(level))) return;
  const std::string text = safe_for_terminal(message);
  try {
    sink->log({instance().logger.name(), spdlog_level(level), text});
    sink->flush();
  } catch (const spdlog::spdlog_ex& e) {
    instance().report_file(e.what());
  }
}

FileSink open_sink(const std::filesystem::path& path, Level level) {
  try {
    auto sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(path.string());
    sink->set_level(spdlog_level(level));
    instance().logger.sinks().push_back(sink);
    instance().logger.flush_on(spdlog::level::info);
    return sink;
  } catch (const spdlog::spdlog_ex& e) {
    throw Error(ErrorKind::kFileSystem,
                fmt::format("cannot write {}: {}", path.string(), reason_in(e.what())));
  }
}

void close_sink(FileSink& sink) {
  if (sink == nullptr) return;
  Log& log = instance();
  try {
    sink->flush();
  } catch (const spdlog::spdlog_ex& e) {
    log.report_file(e.what());
  }
  log.failed_files.erase(sink->filename());
  std::erase(log.logger.sinks(), sink);
  sink.reset();
}

}  // namespace

void set_console_level(Level level) { instance().console->set_level(spdlog_level(level)); }

void set_console_format(Format format) { instance().console->set_format(format); }

Format console_format() { return instance().console->format(); }

void set_rank(std::optional<int> rank) { instance().console->set_rank(rank); }

bool has_json() { return console_format() == Format::kJson || instance().json_file != nullptr; }

void open_file(const std::filesystem::path& path, Level level) {
  close_file();
  instance().file = open_sink(path, level);
  instance().file->set_pattern("%Y-%m-%d %H:%M:%S.%e %-7l %v");
}

void open_json_file(const std::filesystem::path& path, Level level) {
  close_sink(instance().json_file);
  instance().json_file = open_sink(path, level);
  instance().json_file->set_formatter(std::make_unique<JsonFormatter>(instance().console->rank()));
}

void close_file() {
  close_sink(instance().json_file);
  close_sink(instance().file);
}

void event(std::string_view name, std::string_view message, const Json& fields, Level level) {
  const Event event{name, fields};
  current_event = &event;
  write(spdlog_level(level), message);
  current_event = nullptr;
}

void record(std::string_view name, std::string_view message, const Json& fields, Level level) {
  const Event event{name, fields};
  current_event = &event;
  if (console_format() == Format::kJson) write_to(instance().console.get(), message, level);
  write_to(instance().json_file.get(), message, level);
  current_event = nullptr;
}

void text_line(std::string_view line) {
  if (console_format() == Format::kText) write_to(instance().console.get(), line);
  note(line);
}

void overview(std::string_view label, std::string_view value) {
  text_line(labeled_line(label, value));
  if (!has_json()) return;
  std::string& last = instance().label;
  if (!label.empty()) last = label;
  const std::string text(value);
  record("overview", fmt::format("{}: {}", last, text), {{"label", last}, {"value", text}});
}

void note(std::string_view message) { write_to(instance().file.get(), message); }

void detail(std::string_view message) {
  note(message);
  const auto& console = instance().console;
  if (console->should_log(spdlog::level::debug)) write_to(console.get(), message);
}

void debug(std::string_view message) { write(spdlog::level::debug, message); }
void info(std::string_view message) { write(spdlog::level::info, message); }
void warning(std::string_view message) { write(spdlog::level::warn, message); }
void warning_once(std::string_view message) {
  if (instance().said.insert(without_counts(message)).second) return warning(message);
  write_to(instance().file.get(), message, Level::kWarning);
}
void error(std::string_view message) { write(spdlog::level::err, message); }

void show_status(std::string_view text) { instance().console->show_status(text); }
void clear_status() { instance().console->clear_status(); }

}  // namespace trainer::log
