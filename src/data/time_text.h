// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

namespace trainer::data {

enum class TimeKind { kNumber, kDate };

struct Time {
  TimeKind kind = TimeKind::kNumber;
  double value = 0;  // the number, or seconds since the beginning of 1970 in UTC
};

/// A finite number; or a date of ISO 8601 (2026-03-01), with a time of day (2026-03-01T12:30, with
/// seconds and fractions of them, a blank in place of the T) and an offset (Z, +01:00, +0100, +01)
/// or none, which counts as UTC. Nothing for another text and for a day that does not exist.
std::optional<Time> parse_time(std::string_view text);

}  // namespace trainer::data
