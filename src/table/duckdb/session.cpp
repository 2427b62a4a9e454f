// SPDX-License-Identifier: Apache-2.0
#include "table/duckdb/session.h"

#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): mkdtemp() on Linux
#include <unistd.h>  // mkdtemp() on macOS

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "trainer/base/error.h"
#include "trainer/table/duckdb/query.h"

namespace trainer::duckdb {
namespace {

void cut_at(std::string& text, const char* end) {
  if (const size_t at = text.find(end); at != std::string::npos) text.resize(at);
}

/// DuckDB's message without what is of no use to the user of a query.
std::string cleaned(const char* message) {
  std::string text = message == nullptr ? "unknown error" : message;
  constexpr std::string_view kWrapped =
      "Invalid Input Error: Attempting to execute an unsuccessful or closed pending query result\n"
      "Error: ";
  if (text.starts_with(kWrapped)) text.erase(0, kWrapped.size());
  cut_at(text, "\nStack Trace:");
  cut_at(text, "\nPlease try installing");  // an extension, which cannot be loaded here
  for (size_t at = text.find("\n\n"); at != std::string::npos; at = text.find("\n\n")) {
    text.erase(at, 1);
  }
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  return text;
}

}  // namespace

Session::Session(const Statement& statement)
    : api_(c_api()),
      name_(statement.name),
      is_of_user_(statement.is_of_user),
      database_(api_.close),
      connection_(api_.disconnect),
      prepared_(api_.destroy_prepare),
      pending_(api_.destroy_pending) {
  connect();
  run("SET TimeZone = 'UTC'");  // a time with a zone is the same on every machine
  // Else a query that names a URL would bring code from the network and run it.
  run("SET autoinstall_known_extensions = false");
  run("SET autoload_known_extensions = false");
  run("SET temp_directory = " + quoted_text(temporary_.path().string()));
  if (!statement.folder.empty()) run("SET file_search_path = " + quoted_text(statement.folder));
  if (statement.reads == Reads::kNamedFiles) restrict_to_named(statement);
  run("SET lock_configuration = true");
}

void Session::connect() {
  char* reason = nullptr;
  if (api_.open_ext(nullptr, database_.fill(), nullptr, &reason) != CState::kSuccess) {
    const std::string problem = cleaned(reason);
    api_.free(reason);
    fail(problem.c_str());
  }
  if (api_.connect(database_.get(), connection_.fill()) != CState::kSuccess) {
    fail("cannot connect to DuckDB");
  }
}

// A text that DuckDB does not find as a file or pattern is none; that it cannot look (at a URL)
// leaves it out as well.
void Session::restrict_to_named(const Statement& statement) {
  std::string allowed;
  const auto allow = [&](std::string_view path) {
    allowed += (allowed.empty() ? "" : ", ") + quoted_text(path);
  };
  for (const std::string& text : quoted_texts(statement.sql)) {
    if (text.empty()) continue;
    allow(text);  // DuckDB asks for a pattern itself, too
    try {
      stream("SELECT file FROM glob(" + quoted_text(text) + ")");
      while (CChunk* chunk = fetch()) {
        const Chunk rows(chunk, 1);
        for (int64_t row = 0; row < rows.num_rows(); ++row) allow(rows.text(0, row));
      }
    } catch (const Error&) {
      stream_.reset();
    }
  }
  Result done(api_);
  const std::string sql = "SET allowed_paths = [" + allowed + "]::VARCHAR[]";
  if (api_.query(connection_.get(), sql.c_str(), done.get()) != CState::kSuccess) {
    fail(fmt::format("data.query_files: only_named needs DuckDB 1.2 or newer, got {}",
                     api_.library_version())
             .c_str());
  }
  run("SET enable_external_access = false");
}

void Session::fail(const char* message, Place place) const {
  std::string text = cleaned(message);
  if (place == Place::kLeft) cut_at(text, "\nLINE ");
  // Options of a function that only the author of a query can set.
  if (!is_of_user_) cut_at(text, "\nTry ");
  throw Error(ErrorKind::kData, fmt::format("{}: {}", name_, text));
}

void Session::run(const std::string& sql) {
  Result done(api_);
  if (api_.query(connection_.get(), sql.c_str(), done.get()) != CState::kSuccess) {
    fail(api_.result_error(done.get()));
  }
}

void Session::prepare(const std::string& sql, Place place) {
  if (api_.prepare(connection_.get(), sql.c_str(), prepared_.fill()) != CState::kSuccess) {
    fail(api_.prepare_error(prepared_.get()), place);
  }
}

void Session::require_select(const std::string& sql, bool shows_place) {
  prepare(sql, shows_place ? Place::kShown : Place::kLeft);
  if (api_.prepared_statement_type(prepared_.get()) == kSelectStatement) return;
  fail("expected a SELECT statement, got one of another kind");
}

void Session::stream(const std::string& sql) {
  stream_ = std::make_unique<Result>(api_);
  has_ended_ = false;
  prepare(sql, Place::kLeft);
  if (api_.pending_prepared_streaming(prepared_.get(), pending_.fill()) != CState::kSuccess) {
    fail(api_.pending_error(pending_.get()));
  }
  if (api_.execute_pending(pending_.get(), stream_->get()) != CState::kSuccess) {
    fail(api_.result_error(stream_->get()));
  }
}

CChunk* Session::fetch() {
  if (has_ended_) return nullptr;
  CChunk* chunk = api_.fetch_chunk(*stream_->get());
  if (chunk != nullptr) return chunk;
  has_ended_ = true;
  // The end and an error look alike.
  const char* error = api_.result_error(stream_->get());
  if (error != nullptr && *error != '\0') fail(error);
  return nullptr;
}

namespace {

constexpr size_t kMaxChunks = 32;  // of 2,048 rows

}  // namespace

ChunkQueue::ChunkQueue(Session& session) : session_(session), thread_([this] { fetch_all(); }) {}

ChunkQueue::~ChunkQueue() {
  {
    const std::lock_guard lock(mutex_);
    is_wanted_ = false;
  }
  changed_.notify_all();
  thread_.join();
  for (CChunk* chunk : chunks_) c_api().destroy_data_chunk(&chunk);
}

CChunk* ChunkQueue::next() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !chunks_.empty() || has_ended_; });
  if (chunks_.empty()) {
    if (error_) std::rethrow_exception(error_);
    return nullptr;
  }
  CChunk* chunk = chunks_.front();
  chunks_.pop_front();
  lock.unlock();
  changed_.notify_all();
  return chunk;
}

void ChunkQueue::fetch_all() {
  CChunk* chunk = nullptr;
  std::exception_ptr error;
  do {
    try {
      chunk = session_.fetch();
    } catch (...) {
      chunk = nullptr;
      error = std::current_exception();
    }
    std::unique_lock lock(mutex_);
    if (chunk != nullptr) {
      chunks_.push_back(chunk);
    } else {
      has_ended_ = true;
      error_ = error;
    }
    changed_.notify_all();
    changed_.wait(lock, [&] { return chunks_.size() < kMaxChunks || !is_wanted_; });
    if (!is_wanted_) return;
  } while (chunk != nullptr);
}

namespace fs = std::filesystem;

PrivateFolder::PrivateFolder() {
  std::error_code none;
  const fs::path base = fs::temp_directory_path(none);
  if (none || !base.is_absolute()) return;  // never below the working directory
  std::string name = (base / "trainer-XXXXXX").string();
  if (::mkdtemp(name.data()) != nullptr) path_ = name;
}

PrivateFolder::~PrivateFolder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

namespace {

/// Walks over a statement, from one quoted text, comment or other character to the next.
class SqlWalk {
 public:
  explicit SqlWalk(std::string_view sql) : sql_(sql) {}

  /// False at the end.
  bool next() {
    if (position_ >= sql_.size()) return false;
    const char c = sql_[position_];
    quoted_.reset();
    is_text_ = true;
    if (c == '\'' || c == '"') {
      take_quoted(c);
    } else if (sql_.substr(position_).starts_with("--")) {
      is_text_ = false;
      position_ = std::min(sql_.find('\n', position_), sql_.size());
    } else if (sql_.substr(position_).starts_with("/*")) {
      is_text_ = false;
      skip_comment();
    } else {
      constexpr std::string_view kNothing = "; \t\r\n\f\v";
      is_text_ = kNothing.find(c) == std::string_view::npos;
      ++position_;
    }
    return true;
  }

  /// Whether what was passed is part of the statement.
  bool is_text() const { return is_text_; }
  /// Behind it.
  size_t position() const { return position_; }
  const std::optional<std::string>& quoted() const { return quoted_; }

 private:
  // A doubled quote stands for one.
  void take_quoted(char quote) {
    quoted_.emplace();
    for (++position_; position_ < sql_.size(); ++position_) {
      if (sql_[position_] == quote && !sql_.substr(position_ + 1).starts_with(quote)) break;
      if (sql_[position_] == quote) ++position_;
      *quoted_ += sql_[position_];
    }
    position_ = std::min(position_ + 1, sql_.size());
  }

  // Comments may be nested.
  void skip_comment() {
    int depth = 0;
    do {
      const std::string_view rest = sql_.substr(position_);
      const int change = rest.starts_with("/*") ? 1 : rest.starts_with("*/") ? -1 : 0;
      depth += change;
      position_ += change == 0 ? 1 : 2;
    } while (depth > 0 && position_ < sql_.size());
  }

  std::string_view sql_;
  size_t position_ = 0;
  bool is_text_ = true;
  std::optional<std::string> quoted_;
};

}  // namespace

std::string without_end(std::string_view sql) {
  size_t end = 0;
  for (SqlWalk walk(sql); walk.next();) {
    if (walk.is_text()) end = walk.position();
  }
  return std::string(sql.substr(0, end));
}

std::vector<std::string> quoted_texts(std::string_view sql) {
  std::vector<std::string> texts;
  for (SqlWalk walk(sql); walk.next();) {
    if (walk.quoted()) texts.push_back(*walk.quoted());
  }
  return texts;
}

}  // namespace trainer::duckdb
