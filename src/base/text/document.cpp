// SPDX-License-Identifier: Apache-2.0
#include "trainer/base/text/document.h"

#include <algorithm>
#include <iterator>
#include <limits>

#include <fmt/format.h>

#include "trainer/base/text/format.h"
#include "trainer/base/text/text_table.h"

namespace trainer {
namespace {

constexpr std::size_t kMinLabelWidth = 10;
constexpr std::size_t kMinTextWidth = 8;  // no column is cut below this to make a table fit
constexpr std::size_t kProseWidth = 80;   // width of paragraphs where there is no terminal
constexpr std::size_t kGap = 2;           // spaces between columns, and behind labels

std::string padded(const std::string& text, std::size_t width, Align align) {
  const std::string padding(width - std::min(width, display_width(text)), ' ');
  return align == Align::kLeft ? text + padding : padding + text;
}

void remove_blanks_at_end(std::string& text) {
  text.resize(text.find_last_not_of(' ') + 1);  // npos + 1 is 0
}

std::string trimmed(const std::string& text) {
  const std::size_t begin = std::min(text.find_first_not_of(' '), text.size());
  return text.substr(begin, text.find_last_not_of(' ') + 1 - begin);
}

std::string markdown_cell(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2) {
    text.insert(at, 1, '\\');
  }
  return text;
}

/// Narrows the widest left-aligned column, again and again, until a row fits into `max_width`.
/// Right-aligned columns have numbers, which are never cut.
void make_fit(const std::vector<Align>& aligns, std::size_t max_width,
              std::vector<std::size_t>& widths) {
  std::size_t total = kGap * (std::max<std::size_t>(widths.size(), 1) - 1);
  for (const std::size_t width : widths) total += width;
  for (; total > max_width; --total) {
    std::size_t* widest = nullptr;
    for (std::size_t j = 0; j < widths.size(); ++j) {
      if (aligns[j] == Align::kLeft && (widest == nullptr || widths[j] > *widest)) {
        widest = &widths[j];
      }
    }
    if (widest == nullptr || *widest <= kMinTextWidth) return;
    --*widest;
  }
}

/// Sets an entry of nested objects: the key "a.b" means the entry "b" of the object "a".
void set(Json& json, std::string_view key, const Json& value) {
  const std::size_t dot = key.find('.');
  Json& entry = json[std::string(key.substr(0, dot))];
  if (dot == std::string_view::npos) {
    entry = value;
  } else {
    set(entry, key.substr(dot + 1), value);
  }
}

}  // namespace

Cell without_data(std::string text) { return {Json(Json::value_t::discarded), std::move(text)}; }

Table::Table(std::vector<TableColumn> columns)
    : columns_(std::move(columns)), max_rows_(std::numeric_limits<std::size_t>::max()) {}

void Table::add(std::vector<Cell> row) { rows_.push_back(std::move(row)); }

void Table::add_summary(std::vector<std::string> texts) {
  summary_.emplace_back(std::make_move_iterator(texts.begin()),
                        std::make_move_iterator(texts.end()));
}

void Table::show_at_most(std::size_t num_rows, std::string_view noun, std::string_view remark) {
  max_rows_ = num_rows;
  noun_ = noun;
  remark_ = remark;
}

Table::Texts Table::shown_texts() const {
  Texts texts(1);
  const auto add_row = [&](const std::vector<Cell>& row) {
    texts.emplace_back();
    for (std::size_t j = 0; j < columns_.size(); ++j) {
      if (!columns_[j].is_shown) continue;
      texts.back().push_back(j < row.size() ? table_cell(row[j].text, columns_[j].max_width) : "");
    }
  };
  for (const TableColumn& column : columns_) {
    if (column.is_shown) texts.front().push_back(column.title);
  }
  for (std::size_t i = 0; i < std::min(rows_.size(), max_rows_); ++i) add_row(rows_[i]);
  for (const std::vector<Cell>& row : summary_) add_row(row);
  return texts;
}

std::vector<std::string> Table::all_notes() const {
  std::vector<std::string> notes;
  if (rows_.size() > max_rows_) {
    const auto num_more = static_cast<int64_t>(rows_.size() - max_rows_);
    notes.push_back(fmt::format("and {}{}", counted(num_more, "more " + noun_), remark_));
  }
  notes.insert(notes.end(), notes_.begin(), notes_.end());
  return notes;
}

std::string Table::text(std::size_t max_width) const {
  std::vector<Align> aligns;
  for (const TableColumn& column : columns_) {
    if (column.is_shown) aligns.push_back(column.align);
  }
  const Texts texts = shown_texts();
  std::vector<std::size_t> widths(aligns.size());
  for (const auto& row : texts) {
    for (std::size_t j = 0; j < widths.size(); ++j) {
      widths[j] = std::max(widths[j], display_width(row[j]));
    }
  }
  if (max_width > 0) make_fit(aligns, max_width, widths);
  std::string text;
  if (!title_.empty()) text += hanging("", title_, max_width);
  for (const auto& row : texts) {
    for (std::size_t j = 0; j < widths.size(); ++j) {
      if (j > 0) text.append(kGap, ' ');
      text += padded(shortened(row[j], widths[j]), widths[j], aligns[j]);
    }
    remove_blanks_at_end(text);
    text += '\n';
  }
  for (const std::string& note : all_notes()) text += hanging("", note, max_width);
  return text;
}

std::string Table::markdown() const {
  std::string text = title_.empty() ? "" : title_ + "\n\n";
  bool is_head = true;
  for (const auto& row : shown_texts()) {
    for (const std::string& cell : row) {
      text += fmt::format("| {} ", markdown_cell(trimmed(cell)));
    }
    text += "|\n";
    if (!std::exchange(is_head, false)) continue;
    for (const TableColumn& column : columns_) {
      if (column.is_shown) text += column.align == Align::kLeft ? "|---" : "|---:";
    }
    text += "|\n";
  }
  for (const std::string& note : all_notes()) text += "\n" + note + "\n";
  return text;
}

std::string Table::csv() const {
  std::string text;
  for (const auto& row : shown_texts()) {
    for (std::size_t j = 0; j < row.size(); ++j) {
      text += fmt::format("{}{}", j == 0 ? "" : ",", csv_cell(trimmed(row[j])));
    }
    text += "\n";
  }
  return text;
}

Json Table::json() const {
  Json list = Json::array();
  for (const std::vector<Cell>& row : rows_) {
    Json object = Json::object();
    for (std::size_t j = 0; j < std::min(row.size(), columns_.size()); ++j) {
      if (columns_[j].key.empty() || row[j].data.is_discarded()) continue;
      set(object, columns_[j].key, row[j].data);
    }
    list.push_back(std::move(object));
  }
  return list;
}

void Document::add(const std::string& key, std::string label, Cell value) {
  data(key, std::move(value.data));
  line(std::move(label), std::move(value.text));
}

void Document::line(std::string label, std::string text) {
  if (blocks_.empty() || !std::holds_alternative<Lines>(blocks_.back())) {
    blocks_.emplace_back(Lines());
  }
  std::get<Lines>(blocks_.back()).emplace_back(std::move(label), std::move(text));
}

void Document::data(const std::string& key, Json value) {
  data_.emplace_back(key, std::move(value));
}

Table& Document::table(const std::string& key, std::vector<TableColumn> columns) {
  auto table = std::make_shared<Table>(std::move(columns));
  blocks_.emplace_back(table);
  if (!key.empty()) data_.emplace_back(key, table);
  return *table;
}

void Document::show(Table table) {
  blocks_.emplace_back(std::make_shared<Table>(std::move(table)));
}

void Document::paragraph(std::string text) { blocks_.emplace_back(Paragraph{std::move(text)}); }

void Document::picture(std::string lines) { blocks_.emplace_back(Picture{std::move(lines)}); }

void Document::append(Document other) {
  for (auto& block : other.blocks_) {
    if (auto* lines = std::get_if<Lines>(&block)) {
      for (auto& [label, value] : *lines) line(std::move(label), std::move(value));
    } else {
      blocks_.push_back(std::move(block));
    }
  }
  std::move(other.data_.begin(), other.data_.end(), std::back_inserter(data_));
}

std::string Document::text(std::size_t width) const {
  std::string text;
  for (const Block& block : blocks_) {
    if (!text.empty()) text += '\n';
    if (const auto* lines = std::get_if<Lines>(&block)) {
      std::size_t label_width = kMinLabelWidth;
      for (const auto& [label, value] : *lines) {
        label_width = std::max(label_width, display_width(label));
      }
      for (const auto& [label, value] : *lines) {
        text += hanging(padded(label, label_width + kGap, Align::kLeft), value, width);
      }
    } else if (const auto* table = std::get_if<SharedTable>(&block)) {
      text += (*table)->text(width);
    } else if (const auto* paragraph = std::get_if<Paragraph>(&block)) {
      text += hanging("", paragraph->text, width > 0 ? width : kProseWidth);
    } else {
      text += std::get<Picture>(block).text;
    }
  }
  return text;
}

std::string Document::markdown() const {
  std::string text;
  for (const Block& block : blocks_) {
    if (!text.empty()) text += '\n';
    if (const auto* lines = std::get_if<Lines>(&block)) {
      for (const auto& [label, value] : *lines) {
        text += label.empty() ? fmt::format("  - {}\n", value)
                              : fmt::format("- {}: {}\n", label, value);
      }
    } else if (const auto* table = std::get_if<SharedTable>(&block)) {
      text += (*table)->markdown();
    } else if (const auto* paragraph = std::get_if<Paragraph>(&block)) {
      text += paragraph->text + "\n";
    } else {
      text += "```\n" + std::get<Picture>(block).text + "```\n";
    }
  }
  return text;
}

Json Document::json() const {
  Json json = Json::object();
  for (const auto& [key, value] : data_) {
    const auto* table = std::get_if<SharedTable>(&value);
    set(json, key, table != nullptr ? (*table)->json() : std::get<Json>(value));
  }
  return json;
}

}  // namespace trainer
