// SPDX-License-Identifier: Apache-2.0
#include "trainer/core/log.h"

#include <cstdio>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/basic_file_sink.h>

#include "trainer/core/error.h"
#include "trainer/core/terminal.h"

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
    default:
      return {"", ""};
  }
}

/// Standard error: messages scroll above a status line that is redrawn.
class ConsoleSink : public spdlog::sinks::base_sink<std::mutex> {
 public:
  ConsoleSink() : terminal_(standard_error_terminal()) {}

  void show_status(std::string_view text) {
    const std::lock_guard lock(mutex_);
    if (!terminal_.redraws || text == status_) return;
    status_ = text;
    write("\r" + status_ + "\x1b[K");
  }

  void set_prefix(std::string prefix) {
    const std::lock_guard lock(mutex_);
    prefix_ = std::move(prefix);
  }

  void clear_status() {
    const std::lock_guard lock(mutex_);
    if (status_.empty()) return;
    status_.clear();
    write("\r\x1b[K");
  }

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    const Mark mark = level_mark(message.level);
    const std::string_view payload(message.payload.data(), message.payload.size());
    const bool colored = terminal_.colors && *mark.color != '\0';
    const std::string before = status_.empty() ? "" : "\r\x1b[K";
    write(fmt::format("{}{}{}{}{}{}\n{}", before, prefix_, colored ? mark.color : "", mark.prefix,
                      colored ? "\x1b[0m" : "", payload, status_));
  }
  void flush_() override { std::fflush(stderr); }

 private:
  static void write(const std::string& text) {
    std::fwrite(text.data(), 1, text.size(), stderr);
    std::fflush(stderr);
  }

  Terminal terminal_;
  std::string prefix_;
  std::string status_;
};

// "No space left on device" of spdlog's "Failed flush to file runs/train.log: No space left ...".
std::string_view reason_in(std::string_view problem) {
  const std::size_t colon = problem.rfind(": ");
  return colon == std::string_view::npos ? problem : problem.substr(colon + 2);
}

struct Log {
  std::shared_ptr<ConsoleSink> console = std::make_shared<ConsoleSink>();
  std::shared_ptr<spdlog::sinks::basic_file_sink_mt> file;
  bool file_failed = false;
  spdlog::logger logger{"trainer", console};

  Log() {
    logger.set_level(spdlog::level::debug);  // the sinks decide
    logger.set_error_handler([this](const std::string& problem) { report_file(problem); });
  }

  // Once per file, and on the console only. A log that cannot be written, on a full disk for
  // example, does not stop the run; files that the run needs fail by themselves.
  void report_file(std::string_view problem) {
    if (file == nullptr || file_failed) return;
    file_failed = true;
    const std::string message =
        fmt::format("cannot write {}: {}; messages will be missing from this file",
                    file->filename(), reason_in(problem));
    if (console->should_log(spdlog::level::warn)) {
      console->log({logger.name(), spdlog::level::warn, message});
    }
  }
};

Log& instance() {
  static Log log;
  return log;
}

void write(spdlog::level::level_enum level, std::string_view message) {
  instance().logger.log(level, spdlog::string_view_t(message.data(), message.size()));
}

void write_to(spdlog::sinks::sink& sink, std::string_view message) {
  if (!sink.should_log(spdlog::level::info)) return;
  sink.log({instance().logger.name(), spdlog::level::info,
            spdlog::string_view_t(message.data(), message.size())});
}

}  // namespace

void set_console_level(Level level) { instance().console->set_level(spdlog_level(level)); }

void set_console_prefix(std::string prefix) { instance().console->set_prefix(std::move(prefix)); }

void open_file(const std::filesystem::path& path, Level level) {
  close_file();
  try {
    instance().file = std::make_shared<spdlog::sinks::basic_file_sink_mt>(path.string());
  } catch (const spdlog::spdlog_ex& e) {
    throw Error(ErrorKind::kFileSystem,
                fmt::format("cannot write {}: {}", path.string(), reason_in(e.what())));
  }
  instance().file_failed = false;
  instance().file->set_level(spdlog_level(level));
  instance().file->set_pattern("%Y-%m-%d %H:%M:%S.%e %-7l %v");
  instance().logger.sinks().push_back(instance().file);
  instance().logger.flush_on(spdlog::level::info);
}

void close_file() {
  Log& log = instance();
  if (log.file == nullptr) return;
  try {
    log.file->flush();
  } catch (const spdlog::spdlog_ex& e) {
    log.report_file(e.what());
  }
  std::erase(log.logger.sinks(), log.file);
  log.file.reset();
}

void note(std::string_view message) {
  if (instance().file != nullptr) write_to(*instance().file, message);
}

void detail(std::string_view message) {
  note(message);
  const auto& console = instance().console;
  if (console->should_log(spdlog::level::debug)) write_to(*console, message);
}

void debug(std::string_view message) { write(spdlog::level::debug, message); }
void info(std::string_view message) { write(spdlog::level::info, message); }
void warning(std::string_view message) { write(spdlog::level::warn, message); }
void error(std::string_view message) { write(spdlog::level::err, message); }

void show_status(std::string_view text) { instance().console->show_status(text); }
void clear_status() { instance().console->clear_status(); }

}  // namespace trainer::log
