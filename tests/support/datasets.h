// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trainer/config/data_config.h"
#include "trainer/table/dataset.h"

#include "support/data_folder.h"

namespace trainer::test {

/// Tests of what is loaded by a configuration.
class DatasetFolderTest : public DataFolderTest {
 protected:
  /// A configuration for a CSV file that sets nothing apart.
  config::DataConfig table(std::string_view content,
                           std::vector<std::string> targets = {"y"}) const {
    config::DataConfig data;
    data.source = config::Source::kCsv;
    data.path = folder_.write("t.csv", content).string();
    data.target = std::move(targets);
    data.validation_fraction = 0;
    data.test_fraction = 0;
    return data;
  }

  std::string problem(const config::DataConfig& data) const {
    return message_of([&] { data::load_datasets(data, 1); });
  }

  static Array<float> features(const data::Dataset& part) {
    return std::get<Array<float>>(part.features.values);
  }
};

}  // namespace trainer::test
