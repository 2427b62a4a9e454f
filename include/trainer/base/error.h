// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <stdexcept>
#include <string>

namespace trainer {

/// The kind of a failure, as users see it. The value is the exit code of the process.
enum class ErrorKind {
  kRuntime = 1,      // everything else
  kUsage = 2,        // command line or configuration
  kData = 3,         // a data file is missing or its content is wrong
  kDevice = 4,       // device or backend missing or broken
  kOutOfMemory = 5,  // after all retries
  kNonFinite = 6,    // NaN or infinity in loss or gradient
  kCheckpoint = 7,   // unreadable or incompatible
  kFileSystem = 8,   // full, not writable
  kLostProcess = 9,  // another process of the run has ended or does not answer
  kUnmet = 10,       // what the user requires of a model or of data does not hold
};

/// The only exception type of this program. `what()` is written for users: location, expected and
/// actual value, how to fix it; one line per problem.
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}

  ErrorKind kind() const noexcept { return kind_; }

 private:
  ErrorKind kind_;
};

/// The process exit code of an error of this kind, as documented in `trainer --help`.
constexpr int exit_code(ErrorKind kind) { return static_cast<int>(kind); }

/// Converts an exception of the standard library to an Error with a message for users: out of
/// memory, a file system error with its path, a thread that cannot be started. An Error is returned
/// unchanged.
Error as_error(const std::exception& exception);

/// An Error(kOutOfMemory) whose message is `what`, which says where memory ran out, and advice.
Error out_of_memory(const std::string& what);

}  // namespace trainer
