// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <string>

namespace trainer::device {

/// The message of `error`; of LibTorch's without the places in its sources.
std::string error_text(const std::exception& error);

/// Its first line.
std::string error_line(const std::exception& error);

}  // namespace trainer::device
