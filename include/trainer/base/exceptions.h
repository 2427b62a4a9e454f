// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <string>

#include "trainer/base/error.h"

namespace trainer {

/// Converts an exception of the standard library to an Error with a message for users: out of
/// memory, a file system error with its path, a thread that cannot be started. An Error is returned
/// unchanged.
Error as_error(const std::exception& exception);

/// An Error(kOutOfMemory) whose message is `what`, which says where memory ran out, and advice.
Error out_of_memory(const std::string& what);

}  // namespace trainer
