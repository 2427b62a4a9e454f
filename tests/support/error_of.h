// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "trainer/base/error.h"

namespace trainer::test {

/// The Error that `call` throws, for assertions on its kind and its whole message. A call that
/// throws nothing fails the test by another exception.
template <class F>
Error error_of(F&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error;
  }
  throw std::logic_error("expected an Error, none was thrown");
}

/// The message of that Error, which has to be of this kind.
template <class F>
std::string message_of(ErrorKind kind, F&& call) {
  const Error error = error_of(call);
  EXPECT_EQ(error.kind(), kind);
  return error.what();
}

/// What follows `begin` in `message`, which has to begin so.
inline std::string after(std::string_view begin, const std::string& message) {
  EXPECT_TRUE(message.starts_with(begin)) << message;
  return message.substr(std::min(begin.size(), message.size()));
}

/// `text` with `with` in the place of `part`, wherever that stands.
inline std::string replaced(std::string text, std::string_view part, std::string_view with) {
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += with.size()) {
    text.replace(at, part.size(), with);
  }
  return text;
}

}  // namespace trainer::test
