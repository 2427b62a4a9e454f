// SPDX-License-Identifier: Apache-2.0
#include "table/duckdb/sql_text.h"

#include <algorithm>
#include <cstddef>
#include <optional>

namespace trainer::duckdb {
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
