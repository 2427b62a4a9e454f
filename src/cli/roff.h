// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace trainer::cli {

/// `text` with everything that means something to roff escaped, so that it is shown as it is:
/// hyphens, quotes and backquotes too, which would become others.
std::string roff_text(std::string_view text);

/// A page of man(7), section by section. Texts are plain; what is in `backquotes` is bold.
class ManPage {
 public:
  ManPage(const std::string& name, const std::string& date, const std::string& source);

  void section(const std::string& title);
  /// A heading within a section; what follows its first word is not bold.
  void subsection(const std::string& title);
  /// Continues without a paragraph.
  void line(const std::string& text) { fill(text); }
  /// A paragraph.
  void paragraph(const std::string& text);
  /// A bold term, its value in italics behind it, and what it means.
  void item(const std::string& term, const std::string& value, const std::string& text);
  /// A text of lines that are shown as they are, indented.
  void lines(const std::string& text);

  const std::string& text() const { return text_; }

 private:
  void macro(const std::string& line);
  void begin_paragraph();
  void fill(const std::string& text);

  std::string text_;
  bool is_at_heading_ = false;  // which begins a paragraph by itself
};

}  // namespace trainer::cli
