// SPDX-License-Identifier: Apache-2.0
// Every file of corpus/: what once was a fault, and what fuzzing begins with. Those that end in .gz
// are packed, as they are long and say little.
#include <cstddef>
#include <filesystem>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "trainer/base/io/log.h"
#include "trainer/table/source/data_file.h"

#include "fuzz/targets.h"
#include "support/files.h"
#include "support/quiet_log.h"

namespace trainer::fuzz {

// NOLINTNEXTLINE(readability-identifier-naming): the name that GoogleTest looks for
void PrintTo(const Target& target, std::ostream* stream) { *stream << target.name; }

namespace {

namespace fs = std::filesystem;

fs::path corpus() { return fs::path(TRAINER_SOURCE_DIR) / "tests" / "fuzz" / "corpus"; }

std::string content_of(const fs::path& file) {
  if (file.extension() != ".gz") return test::read_file(file);
  data::DataFile packed(file);
  std::string content(std::size_t{1} << 20U, '\0');
  content.resize(packed.read(std::as_writable_bytes(std::span(content))));
  return content;
}

class FuzzCorpusTest : public testing::TestWithParam<Target> {};

TEST_P(FuzzCorpusTest, EveryFileIsReadOrRefused) {
  const test::QuietLog quiet(log::Level::kNone);
  const fs::path files = corpus() / GetParam().name;
  for (const std::string& name : test::file_names(files)) {
    EXPECT_NO_THROW(GetParam().run(content_of(files / name))) << files / name;
  }
  if (GetParam().make_seed != nullptr) GetParam().run(GetParam().make_seed());
}

INSTANTIATE_TEST_SUITE_P(Targets, FuzzCorpusTest, testing::ValuesIn(targets()),
                         [](const auto& one) { return std::string(one.param.name); });

TEST(FuzzTargetsTest, EachHasAFolderOfFiles) {
  std::vector<std::string> names;
  for (const Target& target : targets()) names.emplace_back(target.name);
  EXPECT_EQ(test::file_names(corpus()), names);
}

}  // namespace
}  // namespace trainer::fuzz
