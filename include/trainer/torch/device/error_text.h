// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <string>

namespace trainer::device {

/// The message of `error`. From an error of LibTorch, the backtrace is removed.
std::string error_text(const std::exception& error);

/// The first line of error_text().
std::string error_line(const std::exception& error);

}  // namespace trainer::device
