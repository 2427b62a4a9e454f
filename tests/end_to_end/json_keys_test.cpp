// SPDX-License-Identifier: Apache-2.0
// Programs read what the commands print with --json: each key that goes away or changes its type
// breaks one. tests/golden/json_keys.json has the keys of all of them, in their order. When they
// are to change, TRAINER_NEW_GOLDEN=FILE writes what the commands print now.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "trainer/base/text/json.h"

#include "support/files.h"
#include "support/golden_file.h"
#include "support/process.h"
#include "support/program_test.h"
#include "support/trainer_program.h"

namespace trainer {
namespace {

const char* type_of(const Json& value) {
  if (value.is_object()) return "dict";
  if (value.is_array()) return "list";
  if (value.is_string()) return "str";
  if (value.is_boolean()) return "bool";
  if (value.is_number_float()) return "float";
  return value.is_null() ? "null" : "int";
}

/// The lines "a: int", "b[].c: str" of all values below `value`, each once, in their order.
class Keys {
 public:
  void add(const Json& value, const std::string& path) {
    const std::string line = path + ": " + type_of(value);
    if (!path.empty() && known_.insert(line).second) lines_.push_back(line);
    if (value.is_array()) {
      for (const Json& element : value) add(element, path + "[]");
    } else if (value.is_object() && !kOfTheMachine.contains(path)) {
      for (const auto& [key, member] : value.items()) {
        add(member, path.empty() ? key : path + "." + key);
      }
    }
  }
  const std::vector<std::string>& lines() const { return lines_; }

 private:
  /// What `trainer doctor` says of the machine has other keys on others.
  static inline const std::set<std::string> kOfTheMachine = {
      "system", "cpu", "memory", "limits", "libraries", "environment", "libtorch", "loaded"};

  std::set<std::string> known_;
  std::vector<std::string> lines_;
};

class JsonKeysTest : public test::ProgramTest {
 protected:
  void print(const std::string& arguments) {
    const test::ProcessResult result = trainer(arguments + " --json");
    ASSERT_EQ(result.exit_code, 0) << arguments << "\n" << result.err;
    Keys keys;
    keys.add(parse_json(result.out), "");
    found_[arguments] = keys.lines();
  }

  static std::string lines(const Json& keys) {
    std::string text;
    for (const Json& key : keys) text += key.get<std::string>() + "\n";
    return text;
  }

  Json found_ = Json::object();  // of each command
};

TEST_F(JsonKeysTest, EveryCommandPrintsTheKeysThatItHadBefore) {
  const std::string config = (test::kSource / "configs").string() + "/";
  for (const char* name : {"penguins.yaml", "auto_mpg.yaml"}) {
    folder_.write(name, test::read_file(config + name));
  }
  std::filesystem::create_directory_symlink(config + "data", path("data"));
  const std::string few = " training.epochs=3 threads=2";
  print("--config penguins.yaml --output-dir a" + few);
  for (const char* command : {"eval", "inspect", "verify", "explain", "explain --row 3"}) {
    print(std::string(command) + " a/latest");
  }
  print("--config auto_mpg.yaml --output-dir b" + few);
  for (const char* command : {"eval", "inspect", "explain"}) {
    print(std::string(command) + " b/latest");
  }
  print("runs list a");
  print("runs show a/latest");
  print("runs compare a/latest b/latest");
  print("cv --config penguins.yaml --folds 2" + few);
  print("cv --config auto_mpg.yaml --folds 2 --repeats 2" + few);
  print("ensemble --config penguins.yaml --members 2" + few);
  print("search --config penguins.yaml --folds 2 --trials 2 'model.dropout=choice(0.1,0.2)'" + few);
  print("fit data/penguins.csv --target species members=2" + few + " -o fit.yaml");
  print("config schedule --config penguins.yaml");
  print("find-batch --config penguins.yaml threads=2");
  print("profile --steps 5 --config penguins.yaml threads=2");
  print("doctor");
  if (const char* file = std::getenv("TRAINER_NEW_GOLDEN")) {
    std::ofstream(file) << found_.dump(1) << "\n";
  }
  const Json golden = test::read_golden("json_keys.json");
  EXPECT_EQ(golden.size(), found_.size());
  for (const auto& [command, keys] : found_.items()) {
    EXPECT_EQ(lines(keys), lines(golden.value(command, Json::array()))) << command;
  }
}

// A key is known by its last part, wherever it stands; metrics and settings have documents of their
// own.
TEST(JsonKeysInDocumentsTest, EachKeyIsDescribed) {
  const std::string formats = test::read_file(test::kSource / "docs/file-formats.md");
  const Json golden = test::read_golden("json_keys.json");
  for (const auto& [command, keys] : golden.items()) {
    for (const Json& line : keys) {
      const std::string path = line.get<std::string>().substr(0, line.get<std::string>().find(':'));
      std::string name = path.substr(path.rfind('.') + 1);
      name.resize(std::min(name.size(), name.find('[')));
      if (name.empty() || path.find("settings.") != std::string::npos) continue;
      EXPECT_NE(formats.find("`" + name + "`"), std::string::npos) << command << ": " << path;
    }
  }
}

}  // namespace
}  // namespace trainer
