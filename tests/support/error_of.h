// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>

#include "trainer/core/error.h"

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

}  // namespace trainer::test
