// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "trainer/base/text/json.h"

#include "support/process.h"
#include "support/trainer_program.h"

namespace trainer::test {

/// The command that runs a script of tests/end_to_end with the packages of build/node, where
/// scripts/setup.sh puts them, unless NODE_PATH says otherwise.
inline std::string node_command(const std::string& script) {
  return fmt::format("NODE_PATH=${{NODE_PATH:-{}}} timeout 300 node {}",
                     (kSource / "build/node/node_modules").string(),
                     (kSource / "tests/end_to_end" / script).string());
}

inline ProcessResult run_node(const std::string& script, const std::string& arguments) {
  return run_process(node_command(script) + " " + arguments);
}

/// What such a script prints.
inline Json json_of_node(const std::string& script, const std::string& arguments) {
  const ProcessResult result = run_node(script, arguments);
  if (result.exit_code != 0) throw std::runtime_error(script + ": " + result.err);
  return parse_json(result.out);
}

}  // namespace trainer::test

#define SKIP_WITHOUT_BROWSER()                                                             \
  if (trainer::test::run_node("open_report.js", "probe").exit_code != 0) {                 \
    GTEST_SKIP() << "needs node, chromium, puppeteer-core and axe-core (scripts/setup.sh " \
                    "test with TRAINER_REQUIRE_ALL=1)";                                    \
  }
