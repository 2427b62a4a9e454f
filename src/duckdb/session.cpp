// SPDX-License-Identifier: Apache-2.0
#include "duckdb/session.h"

#include <utility>

#include <fmt/format.h>

#include "trainer/core/error.h"
#include "trainer/duckdb/query.h"

namespace trainer::duckdb {
namespace {

void cut_at(std::string& text, const char* end) {
  if (const size_t at = text.find(end); at != std::string::npos) text.resize(at);
}

/// DuckDB's message without what is of no use to the user of a query.
std::string cleaned(const char* message) {
  std::string text = message == nullptr ? "unknown error" : message;
  cut_at(text, "\nStack Trace:");
  for (size_t at = text.find("\n\n"); at != std::string::npos; at = text.find("\n\n")) {
    text.erase(at, 1);
  }
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  return text;
}

}  // namespace

Session::Session(std::string name, const std::string& folder)
    : api_(c_api()),
      name_(std::move(name)),
      database_(api_.close),
      connection_(api_.disconnect),
      prepared_(api_.destroy_prepare),
      pending_(api_.destroy_pending) {
  char* reason = nullptr;
  if (api_.open_ext(nullptr, database_.fill(), nullptr, &reason) != CState::kSuccess) {
    const std::string problem = cleaned(reason);
    api_.free(reason);
    fail(problem.c_str());
  }
  if (api_.connect(database_.get(), connection_.fill()) != CState::kSuccess) {
    fail("cannot connect to DuckDB");
  }
  run("SET TimeZone = 'UTC'");  // a time with a zone is the same on every machine
  if (!folder.empty()) run("SET file_search_path = " + quoted_text(folder));
}

void Session::fail(const char* message, Place place) const {
  std::string text = cleaned(message);
  if (place == Place::kLeft) cut_at(text, "\nLINE ");
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

}  // namespace trainer::duckdb
