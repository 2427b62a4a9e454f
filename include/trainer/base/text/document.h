// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "trainer/base/text/json.h"

// The result of a command, collected once for both kinds of readers: each value has the form that
// programs read (JSON) and the form that people read (text). Commands add values in the order in
// which they are shown; the layout is decided here.
//
//   Document document;
//   document.add("device", "device", "cpu");
//   Table& stages = document.table("stages", {{"stage", "stage", Align::kLeft},
//                                             {"seconds", "time"}});
//   stages.add({"read", {0.012, "12 ms"}});
//
// gives this text for people, and this JSON for programs:
//
//   device      cpu            {"device": "cpu",
//                               "stages": [{"stage": "read", "seconds": 0.012}]}
//   stage   time
//   read   12 ms
namespace trainer {

/// A value, as JSON for programs and as text for people.
struct Cell {
  Cell(const char* both) : Cell(std::string(both)) {}            // NOLINT: implicit
  Cell(std::string both) : data(both), text(std::move(both)) {}  // NOLINT: implicit
  Cell(Json for_programs, std::string for_people)
      : data(std::move(for_programs)), text(std::move(for_people)) {}

  Json data;
  std::string text;
};

/// A cell that the JSON object of its row leaves out, and that people see as `text`.
Cell without_data(std::string text = "");

enum class Align { kLeft, kRight };

/// The key, title and layout of one column of a table.
struct TableColumn {
  std::string key;    // in the JSON; empty: the column is left out there
  std::string title;  // heading for people
  Align align = Align::kRight;
  std::size_t max_width = 48;  // in columns of a terminal; longer texts are cut
  bool is_shown = true;        // false: the column is in the JSON only
};

/// Rows of cells. People see the texts of the columns that are shown; programs get a list of
/// objects with the data of the columns that have a key.
class Table {
 public:
  explicit Table(std::vector<TableColumn> columns);

  /// Sets a line above the table, for people only.
  void set_title(std::string title) { title_ = std::move(title); }
  /// Adds a line below the table, for people only.
  void add_note(std::string note) { notes_.push_back(std::move(note)); }

  /// Appends a row with one cell per column; cells at the end may be missing.
  void add(std::vector<Cell> row);
  /// Appends a row for people only, below all others, such as a sum or a mean.
  void add_summary(std::vector<std::string> texts);

  /// Shows people only the first `num_rows` rows; a note then says how many more of `noun`
  /// ("column") there are, followed by `remark`.
  void show_at_most(std::size_t num_rows, std::string_view noun, std::string_view remark = "");

  /// The table as aligned text. With a `max_width`, in columns of a terminal, the widest
  /// left-aligned columns are cut until the rows fit; 0 means no limit.
  std::string text(std::size_t max_width = 0) const;
  /// The table in Markdown, with the alignment of the columns.
  std::string markdown() const;
  /// The table in CSV (RFC 4180); the first line has the titles of the columns.
  std::string csv() const;
  /// A list with one object per row, whose entries are named by the keys of the columns.
  Json json() const;

 private:
  using Texts = std::vector<std::vector<std::string>>;
  Texts shown_texts() const;
  std::vector<std::string> all_notes() const;

  std::string title_;
  std::vector<std::string> notes_;
  std::vector<TableColumn> columns_;
  std::vector<std::vector<Cell>> rows_;
  std::vector<std::vector<Cell>> summary_;
  std::size_t max_rows_;
  std::string noun_;
  std::string remark_;
};

/// The result of a command: lines, tables, paragraphs and pictures for people, entries for
/// programs.
class Document {
 public:
  /// Adds a line "label  text" and the JSON entry `key`. Dots in a key denote nested objects. An
  /// empty label continues the line above.
  void add(const std::string& key, std::string label, Cell value);
  /// Adds a line that the JSON does not have.
  void line(std::string label, std::string text);
  /// Adds a JSON entry that people do not see.
  void data(const std::string& key, Json value);
  /// Adds a table, which the JSON has as a list at `key`, or not at all if `key` is empty. The
  /// reference stays valid when more is added.
  Table& table(const std::string& key, std::vector<TableColumn> columns);
  /// Adds a table that the JSON does not have.
  void show(Table table);
  /// Adds a paragraph that the JSON does not have, with an empty line before and behind it.
  void paragraph(std::string text);
  /// Adds lines that the JSON does not have and that are never wrapped.
  void picture(std::string lines);
  /// Moves all text and all JSON entries of `other` to the end of this document.
  void append(Document other);

  /// The text for a terminal of `width` columns: long lines are wrapped between words, with the
  /// following lines indented to the value. 0: only paragraphs are wrapped.
  std::string text(std::size_t width = 0) const;
  /// The document in Markdown; lines become the items of a list.
  std::string markdown() const;
  /// One object with the entries of all keys.
  Json json() const;

 private:
  using Lines = std::vector<std::pair<std::string, std::string>>;  // label and text
  using SharedTable = std::shared_ptr<Table>;
  struct Paragraph {
    std::string text;
  };
  struct Picture {
    std::string text;
  };
  using Block = std::variant<Lines, SharedTable, Paragraph, Picture>;

  std::vector<Block> blocks_;                                                  // for people
  std::vector<std::pair<std::string, std::variant<Json, SharedTable>>> data_;  // for programs
};

}  // namespace trainer
