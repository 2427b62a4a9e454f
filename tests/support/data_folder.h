// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <gtest/gtest.h>

#include "support/error_of.h"
#include "support/temporary_folder.h"

namespace trainer::test {

/// Tests that read data from a folder of their own.
class DataFolderTest : public testing::Test {
 protected:
  /// What an action says of the data, without the path of the folder.
  template <class Action>
  std::string message_of(Action action) const {
    return replaced(test::message_of(ErrorKind::kData, action), folder_.path().string() + "/", "");
  }

  TemporaryFolder folder_;
};

}  // namespace trainer::test
