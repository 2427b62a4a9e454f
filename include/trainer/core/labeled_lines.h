// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace trainer {

/// Columns that a label takes, but for the space behind it.
inline constexpr int kLabelWidth = 11;

/// "run folder  runs/latest": a label and, in a column of its own, a value. No line break.
std::string labeled_line(std::string_view label, std::string_view value, int width = kLabelWidth);

/// Lines of labels and values, the values below each other.
class LabeledLines {
 public:
  explicit LabeledLines(int width = kLabelWidth) : width_(width) {}

  /// An empty label continues the value above.
  void add(std::string_view label, std::string_view value);

  /// Whole lines that were made elsewhere.
  void append(std::string_view lines) { text_ += lines; }

  /// The lines so far; each ends with a line break.
  const std::string& text() const { return text_; }

 private:
  int width_;
  std::string text_;
};

}  // namespace trainer
