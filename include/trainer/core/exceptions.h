// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <string>

#include "trainer/core/error.h"

namespace trainer {

/// An exception of the standard library as the Error that a user can read: of memory, of a file
/// with its path, of a thread that cannot be started. An Error stays what it is.
Error as_error(const std::exception& exception);

/// The Error for memory that ran out; `what` says where.
Error out_of_memory(const std::string& what);

}  // namespace trainer
