// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <string>

namespace trainer::test {

/// The Python that has PyTorch: TRAINER_PYTHON, else Debian's.
inline std::string python() {
  const char* name = std::getenv("TRAINER_PYTHON");
  return name != nullptr ? name : "/usr/bin/python3";
}

}  // namespace trainer::test
