// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "trainer/base/text/json.h"

#include "support/files.h"
#include "support/temporary_folder.h"
#include "support/trainer_program.h"

namespace trainer::test {

/// Tests that run the program in a folder of their own.
class ProgramTest : public testing::Test {
 protected:
  ProcessResult trainer(const std::string& arguments, const std::string& environment = "") const {
    return trainer_in(folder_.path(), arguments, environment);
  }

  std::filesystem::path path(const std::string& name) const { return folder_.path() / name; }

  /// What the run in runs/latest says of itself.
  Json summary() const { return parse_json(read_file(path("runs/latest/summary.json"))); }

  TemporaryFolder folder_;
};

}  // namespace trainer::test
