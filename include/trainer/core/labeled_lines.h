// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace trainer {

/// The width of the label column, without the space after it.
inline constexpr int kLabelWidth = 11;

/// "run folder  runs/latest": a label and a value in two columns, without a line break.
std::string labeled_line(std::string_view label, std::string_view value, int width = kLabelWidth);

/// Lines of labels and aligned values.
class LabeledLines {
 public:
  explicit LabeledLines(int width = kLabelWidth) : width_(width) {}

  /// An empty label continues the value above.
  void add(std::string_view label, std::string_view value);

  /// Appends complete lines.
  void append(std::string_view lines) { text_ += lines; }

  /// The lines so far; each ends with a line break.
  const std::string& text() const { return text_; }

 private:
  int width_;
  std::string text_;
};

}  // namespace trainer
