// SPDX-License-Identifier: Apache-2.0
#include "table/source/npy_header.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <stdexcept>

#include <fmt/format.h>

#include "trainer/base/text/format.h"

namespace trainer::data {
namespace {

/// Reads the few literals of Python that a header has.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  NpyHeader read() {
    NpyHeader header;
    std::optional<std::string> type;
    std::optional<bool> is_fortran_order;
    std::optional<std::vector<int64_t>> shape;
    expect('{');
    while (!take('}')) {
      const std::string key = read_text();
      expect(':');
      if (key == "descr") {
        if (peek() == '[' || peek() == '(') refuse_type("structured");
        type = read_text();
      } else if (key == "fortran_order") {
        is_fortran_order = read_bool();
      } else if (key == "shape") {
        shape = read_sizes();
      } else {
        fail(fmt::format("an unknown entry {}", in_quotes(key)));
      }
      if (peek() != '}') expect(',');
    }
    if (!at_end()) fail("text after the closing } of the header");
    if (!type || !is_fortran_order || !shape) fail("missing descr, fortran_order or shape");
    set_type(*type, header);
    header.is_fortran_order = *is_fortran_order;
    header.shape = std::move(*shape);
    return header;
  }

 private:
  [[noreturn]] static void fail(const std::string& got) {
    throw std::invalid_argument(
        fmt::format("damaged header: expected a dict of descr, fortran_order and shape, got {}; "
                    "save the file again with numpy.save",
                    got));
  }

  [[noreturn]] static void refuse_type(const std::string& type) {
    throw std::invalid_argument(
        fmt::format("the elements are {}; expected float16 to float64, integers or bool: save "
                    "array.astype('float32')",
                    type));
  }

  bool at_end() {
    while (!text_.empty() && (text_.front() == ' ' || text_.front() == '\n')) {
      text_.remove_prefix(1);
    }
    return text_.empty();
  }

  char peek() { return at_end() ? '\0' : text_.front(); }

  bool take(char c) {
    if (peek() != c) return false;
    text_.remove_prefix(1);
    return true;
  }

  void expect(char c) {
    if (!take(c)) fail(at_end() ? "its end" : in_quotes(std::string(text_.substr(0, 20))));
  }

  std::string read_text() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') expect('\'');
    text_.remove_prefix(1);
    const size_t end = text_.find(quote);
    if (end == std::string_view::npos) fail("unterminated string");
    std::string text(text_.substr(0, end));
    text_.remove_prefix(end + 1);
    return text;
  }

  bool read_bool() {
    for (const bool value : {true, false}) {
      const std::string_view word = value ? "True" : "False";
      if (peek() != word.front() || !text_.starts_with(word)) continue;
      text_.remove_prefix(word.size());
      return value;
    }
    fail("expected True or False for fortran_order");
  }

  std::vector<int64_t> read_sizes() {
    std::vector<int64_t> sizes;
    expect('(');
    while (!take(')')) {
      int64_t size = -1;
      peek();
      const auto [end, problem] = std::from_chars(text_.data(), text_.data() + text_.size(), size);
      if (problem != std::errc() || size < 0) fail("no size in shape");
      text_.remove_prefix(static_cast<size_t>(end - text_.data()));
      sizes.push_back(size);
      if (peek() != ')') expect(',');
    }
    return sizes;
  }

  static void set_type(const std::string& type, NpyHeader& header) {
    struct Known {
      char kind;
      size_t bytes;
    };
    constexpr std::array<Known, 12> kKnown = {{{'f', 2},
                                               {'f', 4},
                                               {'f', 8},
                                               {'i', 1},
                                               {'i', 2},
                                               {'i', 4},
                                               {'i', 8},
                                               {'u', 1},
                                               {'u', 2},
                                               {'u', 4},
                                               {'u', 8},
                                               {'b', 1}}};
    const bool has_order =
        type.size() == 3 && std::string_view("<>|=").find(type[0]) != std::string_view::npos;
    const char kind = has_order ? type[1] : '\0';
    const auto bytes = has_order ? static_cast<size_t>(type[2] - '0') : 0;
    const auto fits = [&](const Known& k) { return k.kind == kind && k.bytes == bytes; };
    if (std::none_of(kKnown.begin(), kKnown.end(), fits)) refuse_type(type_name(type));
    header.kind = kind;
    header.bytes_per_element = bytes;
    header.is_big_endian = type[0] == '>';
  }

  static std::string type_name(const std::string& type) {
    const char kind = type.size() < 2 ? '\0' : type[1];
    const char* name = kind == 'O'                  ? "pickled Python objects"
                       : kind == 'c'                ? "complex numbers"
                       : kind == 'U' || kind == 'S' ? "strings"
                       : kind == 'M' || kind == 'm' ? "dates or times"
                       : kind == 'V'                ? "structured"
                                                    : "of an unknown type";
    return fmt::format("{} ({})", name, in_quotes(type));
  }

  std::string_view text_;
};

}  // namespace

NpyHeader parse_npy_header(std::string_view text) { return Parser(text).read(); }

}  // namespace trainer::data
