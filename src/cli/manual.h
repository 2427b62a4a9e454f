// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "cli/commands.h"

namespace trainer::cli {

/// Returns the manual page trainer(1) in roff: the commands of `table` with their options, all
/// configuration keys, exit codes, environment and files.
std::string manual_page(std::span<const CommandRow> table);

/// Returns `text` with all special characters of roff escaped, so that it is shown unchanged: roff
/// replaces plain hyphens, quotes and backquotes by typographic ones.
std::string roff_text(std::string_view text);

/// A page of man(7), built section by section. Texts are plain; words in `backquotes` become bold.
class ManPage {
 public:
  ManPage(const std::string& name, const std::string& date, const std::string& source);

  void section(const std::string& title);
  /// Adds a heading within a section, all of it bold.
  void subsection(const std::string& title);
  /// Adds text without beginning a new paragraph.
  void line(const std::string& text) { fill(text); }
  /// Adds a paragraph, wrapped to the width of the reader's terminal.
  void paragraph(const std::string& text);
  /// Adds a term in bold with its value in italics, and below it the text that explains it.
  void item(const std::string& term, const std::string& value, const std::string& text);
  /// Adds indented lines that are shown without wrapping, such as examples.
  void lines(const std::string& text);

  const std::string& text() const { return text_; }

 private:
  void macro(const std::string& line);
  void begin_paragraph();
  void fill(const std::string& text);

  std::string text_;
  bool is_at_heading_ = false;  // a heading begins a paragraph by itself
};

}  // namespace trainer::cli
