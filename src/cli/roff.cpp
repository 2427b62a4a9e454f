// SPDX-License-Identifier: Apache-2.0
#include "cli/roff.h"

#include <algorithm>
#include <cstddef>
#include <sstream>

#include <fmt/format.h>

#include "trainer/base/text/text_table.h"

namespace trainer::cli {
namespace {

constexpr std::size_t kWidth = 76;  // longest line of the source; mandoc limits it to 80 bytes

// Escapes a line that begins with a dot or quote, which roff would read as a macro.
std::string safe_line(const std::string& line) {
  return line.starts_with('.') || line.starts_with('\'') ? "\\&" + line : line;
}

// Quotes the text, so that a macro takes it as one argument even if it contains spaces.
std::string argument(std::string_view text) { return "\"" + roff_text(text) + "\""; }

}  // namespace

std::string roff_text(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '\\':
        escaped += "\\e";
        break;
      case '-':
        escaped += "\\-";
        break;
      case '"':
        escaped += "\\(dq";
        break;
      case '\'':
        escaped += "\\(aq";
        break;
      case '`':
        escaped += "\\(ga";
        break;
      case '^':
        escaped += "\\(ha";
        break;
      case '~':
        escaped += "\\(ti";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

ManPage::ManPage(const std::string& name, const std::string& date, const std::string& source) {
  macro(R"(.\" Made by `trainer manual`.)");
  macro(fmt::format(".TH {} 1 {} {}", name, date, argument(source)));
  macro(".ad l\n.nh");  // ragged right margin, no hyphenation
}

void ManPage::macro(const std::string& line) {
  text_ += line + "\n";
  is_at_heading_ = false;
}

void ManPage::begin_paragraph() {
  if (!is_at_heading_) macro(".PP");
}

void ManPage::section(const std::string& title) {
  macro(".SH " + roff_text(title));
  is_at_heading_ = true;
}

void ManPage::subsection(const std::string& title) {
  macro(".SS " + argument(title));
  is_at_heading_ = true;
}

void ManPage::paragraph(const std::string& text) {
  begin_paragraph();
  fill(text);
}

void ManPage::item(const std::string& term, const std::string& value, const std::string& text) {
  macro(".TP");
  macro(value.empty() ? ".B " + argument(term)
                      : fmt::format(".BI {} {}", argument(term + " "), argument(value)));
  fill(text);
}

void ManPage::lines(const std::string& text) {
  begin_paragraph();
  macro(".RS 4\n.nf");
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    macro(line.empty() ? ".sp" : safe_line(roff_text(line)));
  }
  macro(".fi\n.RE");
}

// The \& at the end of each line keeps roff from taking a full stop there for the end of a
// sentence, after which it would put two spaces.
void ManPage::fill(const std::string& text) {
  std::string marked;
  bool is_bold = false;
  for (std::size_t begin = 0; begin <= text.size(); is_bold = !is_bold) {
    const std::size_t end = std::min(text.find('`', begin), text.size());
    const std::string part = roff_text(std::string_view(text).substr(begin, end - begin));
    marked += is_bold ? "\\fB" + part + "\\fR" : part;
    begin = end + 1;
  }
  for (const std::string& line : wrapped(marked, kWidth)) macro(safe_line(line) + "\\&");
}

}  // namespace trainer::cli
