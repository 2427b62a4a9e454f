// SPDX-License-Identifier: Apache-2.0
#include "trainer/config/reference.h"

#include <filesystem>

#include <gtest/gtest.h>

#include "trainer/base/text/json.h"
#include "trainer/config/fields.h"
#include "trainer/config/load.h"

#include "support/files.h"

namespace trainer::config {
namespace {

const std::filesystem::path kSource = TRAINER_SOURCE_DIR;

TEST(ReferenceTest, TheCommittedPageIsCurrent) {
  EXPECT_EQ(test::read_file(kSource / "docs/configuration.md"), reference_page())
      << "run: trainer config reference > docs/configuration.md";
}

TEST(ReferenceTest, TheCommittedSchemaIsCurrent) {
  EXPECT_EQ(test::read_file(kSource / "docs/config.schema.json"), json_schema())
      << "run: trainer config schema > docs/config.schema.json";
}

TEST(ReferenceTest, EveryKeyIsOnThePageAndInTheSchema) {
  const std::string page = reference_page();
  const Json schema = parse_json(json_schema());
  for (const Field& field : fields()) {
    EXPECT_NE(page.find("| `" + field.path + "` |"), std::string::npos) << field.path;
    std::string pointer = "/properties/" + field.path;
    for (std::size_t dot = pointer.find('.'); dot != std::string::npos; dot = pointer.find('.')) {
      pointer.replace(dot, 1, "/properties/");
    }
    EXPECT_TRUE(schema.contains(Json::json_pointer(pointer))) << pointer;
  }
}

TEST(ReferenceTest, EveryShippedConfigurationIsValid) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kSource / "configs")) {
    if (entry.path().extension() != ".yaml") continue;
    EXPECT_NO_THROW(load({read_document(entry.path())}, {})) << entry.path();
    ++count;
  }
  EXPECT_GE(count, 3);
}

TEST(ReferenceTest, EveryShippedConfigurationOpensWithTheCommandThatRunsIt) {
  for (const auto& entry : std::filesystem::directory_iterator(kSource / "configs")) {
    if (entry.path().extension() != ".yaml") continue;
    const std::string name = entry.path().filename().string();
    EXPECT_NE(test::read_file(entry.path()).find("#   trainer --config configs/" + name + "\n"),
              std::string::npos)
        << name;
  }
}

}  // namespace
}  // namespace trainer::config
