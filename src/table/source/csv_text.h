// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "trainer/table/source/data_file.h"

namespace trainer::data {

/// The text of a CSV file, read once from begin to end. Only a window of it lies in memory, which
/// ends behind a line break, or with the file, and stands before a NUL: whoever looks for the end
/// of a line or of a field finds it without comparing positions.
class CsvText {
 public:
  static constexpr size_t kBlockBytes = size_t{1} << 20;  // what a second level cache holds

  /// Reads `block_bytes` at once; a longer row takes more. Throws Error(kData) for a NUL byte, here
  /// and in read_on().
  explicit CsvText(DataFile& file, size_t block_bytes = kBlockBytes);
  /// Without a file: all of it is what assign() says.
  CsvText() : file_(nullptr), block_bytes_(kBlockBytes), has_ended_(true) { assign({}); }

  /// Replaces a text without a file.
  void assign(std::string_view text);

  /// Where the window begins and ends.
  const char* begin() const { return buffer_.data(); }
  const char* end() const { return buffer_.data() + end_; }

  /// Moves the window on: it begins with what stood at `keep` and ends later than before. Returns
  /// begin(), or nullptr at the end of the file, and then nothing has changed. What was in the
  /// window stays in memory until release().
  const char* read_on(const char* keep);
  /// Frees the memory of earlier windows.
  void release();

  /// About as many lines as the file has, if all are as long as the first ones.
  size_t num_lines_hint() const;

 private:
  void fill();
  bool find_end(size_t from);
  void require_text(size_t from);

  DataFile* file_;
  size_t block_bytes_;
  std::vector<char> buffer_;
  std::vector<std::vector<char>> earlier_;  // buffers
  std::vector<char> spare_;                 // one that nobody needs
  size_t filled_ = 0;                       // bytes of the file in the buffer
  size_t end_ = 0;                          // of the window
  char behind_ = '\0';                      // what the file has at end()
  bool has_ended_ = false;                  // the file
  int64_t num_line_breaks_ = 0;             // passed by fill()
};

}  // namespace trainer::data
