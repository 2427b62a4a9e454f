#!/usr/bin/env bash
# Tests that scripts/check_comments.py accepts documented headers and names each undocumented class and
# function.
# Usage: tests/scripts/check_comments_test.sh
# shellcheck source=tests/scripts/house.sh
source "$(dirname "$0")/house.sh"
header=$house/include/trainer/core/shapes.h
mkdir -p "$(dirname "$header")"

expect() {  # expect NAME STATUS TEXT: the check of the header on standard input
  cat >"$header"
  expect_of "$@" "$root/scripts/check_comments.py" "$house"
}

missing() {  # missing LINE NAME: the text of a finding
  printf 'include/trainer/core/shapes.h:%s: %s has no doc comment (///)\n' "$1" "$2"
}

expect "documented and exempt declarations" 0 "comments: 1 headers documented" <<'HEADER'
#pragma once

#include <vector>

namespace trainer::core {

class Forward;
enum class Kind { kRound, kSquare };
using List = std::vector<int>;
inline constexpr int kMost = most_of(3);

/// A shape.
class Shape : public Base {
 public:
  Shape(int width, int height);
  explicit Shape(std::string_view text = "class Text {") : text_(text) {}
  ~Shape() override;
  Shape(const Shape&) = delete;
  Shape& operator=(const Shape&) = delete;
  bool operator==(const Shape&) const = default;
  void draw() const override;
  int width() const { return width_; }

  /// Makes it larger.
  void grow(int by);
  void grow(int width,
            int height);

  int corners = 4;
  std::function<void(int)> changed;
  int (*measure)(const Shape&) = nullptr;

 private:
  struct Hidden {
    void work();
  };
  void help();
  int width_ = 0;
};

/// The area,
// which is not "area of": that is another one
// NOLINTNEXTLINE(readability-identifier-naming)
double area(const Shape& shape);

/// The name of a type.
template <class Type>
const char* name_of();
template <>
const char* name_of<Shape>();
template <>
const char* name_of<Kind>();

/// Anything that can be called.
template <class Result, class... Arguments>
requires(sizeof(Result) > 1)
class Caller<Result(Arguments...)> final {
 public:
  /// What it returns.
  Result operator()(Arguments... arguments) const { return call_(arguments...); }
};

}  // namespace trainer::core
HEADER

expect "free functions" 1 "$(missing 4 area)
$(missing 7 length)
$(missing 11 cut)
$(missing 15 operator==)
$(missing 20 of)
$(missing 24 trainer_api)" <<'HEADER'
namespace trainer {

// A plain comment is for those who read the code.
double area(const Shape& shape);
/// The sum of the sides.
double sides(const Shape& shape);
double length(const Shape& shape);

/// Half of it.

template <class Part>
std::pair<Part, Part> cut(const Shape& shape) {
  return {};
}
bool operator==(const Shape& a, const Shape& b);

#define MACRO \
  int x();

[[nodiscard]] inline std::function<int(int)> of(
    const Shape& shape, Options options = {});
}  // namespace trainer

extern "C" const Api* trainer_api();
HEADER

expect "classes and their functions" 1 "$(missing 1 Point)
$(missing 6 Line::length)
$(missing 10 End::touches)
$(missing 13 Line::Start)
$(missing 18 Line::operator[])" <<'HEADER'
struct Point {};

/// Two points.
class Line {
 public:
  double length() const;

  /// One of the points.
  struct End {
    bool touches(const Line& line) const;
  };

  struct Start : End {};

 protected:
  void hidden();
 public:
  Point& operator[](int number);
  double width() const { return 1; }
  bool is_long() const noexcept { return length() > 2; }
};
HEADER

finish
