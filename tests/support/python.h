// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <string>

#include <fmt/format.h>

#include "support/process.h"

namespace trainer::test {

/// The Python that has PyTorch: TRAINER_PYTHON, else Debian's.
inline std::string python() {
  const char* name = std::getenv("TRAINER_PYTHON");
  return name != nullptr ? name : "/usr/bin/python3";
}

/// The command that runs a script of tests/: "archive/python_interoperation.py".
inline std::string python_script(const std::string& script) {
  return fmt::format("\"{}\" \"{}/tests/{}\" ", python(), TRAINER_SOURCE_DIR, script);
}

/// What is missing to run the script, by its own "probe", as the reason of a skip; often nothing.
inline std::string missing_for(const std::string& script) {
  if (run_process(python_script(script) + "probe").exit_code == 0) return "";
  return python() + " has no PyTorch; set TRAINER_PYTHON";
}

}  // namespace trainer::test
