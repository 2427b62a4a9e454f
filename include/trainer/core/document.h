// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "trainer/core/json.h"

// What a command has found, said once: each value as programs read it and as people do. Those who
// find it add it in its order; how it looks is decided here.
//
//   Document document;
//   document.add("device", "device", "cpu");
//   Table& stages = document.table("stages", {{"stage", "stage", Align::kLeft},
//                                             {"seconds", "time"}});
//   stages.add({"read", {0.012, "12 ms"}});
//
// is for people, and for programs:
//
//   device      cpu            {"device": "cpu",
//                               "stages": [{"stage": "read", "seconds": 0.012}]}
//   stage   time
//   read   12 ms
namespace trainer {

/// A value.
struct Cell {
  Cell(const char* both) : Cell(std::string(both)) {}            // NOLINT: implicit
  Cell(std::string both) : data(both), text(std::move(both)) {}  // NOLINT: implicit
  Cell(Json for_programs, std::string for_people)
      : data(std::move(for_programs)), text(std::move(for_people)) {}

  Json data;
  std::string text;
};

/// A value that programs do not find in its row, and people see as `text`.
Cell without_data(std::string text = "");

enum class Align { kLeft, kRight };

/// A column of a table.
struct TableColumn {
  std::string key;    // for programs; empty: they do not get it
  std::string title;  // for people
  Align align = Align::kRight;
  std::size_t max_width = 48;  // of a text, in columns of a terminal; what is longer is cut
  bool is_shown = true;        // to people
};

/// Rows of cells. People see the texts of the columns that are shown; programs get a list of
/// objects with the data of those that have a key.
class Table {
 public:
  explicit Table(std::vector<TableColumn> columns);

  /// A line for people above the table.
  void set_title(std::string title) { title_ = std::move(title); }
  /// A line for people below the table.
  void add_note(std::string note) { notes_.push_back(std::move(note)); }

  /// One cell for each column; those at the end may be missing.
  void add(std::vector<Cell> row);
  /// A row that only people see, below all others: their sum or mean.
  void add_summary(std::vector<std::string> texts);

  /// People see so many rows, and then how many more of `noun` ("column") there are, and `remark`.
  void show_at_most(std::size_t num_rows, std::string_view noun, std::string_view remark = "");

  /// `max_width` 0: as wide as it is. Else the widest columns of texts are cut until it fits.
  std::string text(std::size_t max_width = 0) const;
  /// With the alignment of the columns.
  std::string markdown() const;
  /// RFC 4180, with the titles of the columns.
  std::string csv() const;
  /// A list of objects.
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

/// Lines, tables, paragraphs and pictures.
class Document {
 public:
  /// A line "label  text", and for programs `key`. Dots in keys stand for objects in objects. An
  /// empty label continues the line above.
  void add(const std::string& key, std::string label, Cell value);
  /// For people only.
  void line(std::string label, std::string text);
  /// For programs only.
  void data(const std::string& key, Json value);
  /// A list below `key`, or nothing for programs if that is empty. Stays where it is.
  Table& table(const std::string& key, std::vector<TableColumn> columns);
  /// For people only.
  void show(Table table);
  /// For people only: text of its own, behind an empty line, and before one.
  void paragraph(std::string text);
  /// For people only: lines that stay as they are.
  void picture(std::string lines);
  /// All of `other`, behind this.
  void append(Document other);

  /// For a terminal of so many columns, in which lines are divided between words and continue below
  /// their beginning; 0: lines as long as they are, but for paragraphs.
  std::string text(std::size_t width = 0) const;
  /// Lines are the items of a list.
  std::string markdown() const;
  /// An object with all keys.
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
