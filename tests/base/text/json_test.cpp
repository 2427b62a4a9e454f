// SPDX-License-Identifier: Apache-2.0

#include "trainer/base/text/json.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "trainer/base/error.h"

#include "support/error_of.h"
#include "support/temporary_folder.h"

namespace trainer {
namespace {

TEST(JsonTest, ObjectsKeepTheOrderOfTheirEntries) {
  EXPECT_EQ(parse_json(R"({"b": 1, "a": [2.5, "x", null]})").dump(),
            R"({"b":1,"a":[2.5,"x",null]})");
}

TEST(JsonTest, TextThatIsNotValidIsNullOrThrown) {
  for (const char* text : {"", "{", "{\"a\": }", "1 2", "nul"}) {
    EXPECT_TRUE(parse_json_or_null(text).is_null()) << text;
    EXPECT_THROW(parse_json(text), Json::parse_error) << text;
  }
  EXPECT_EQ(parse_json_or_null("[1]"), Json({1}));
}

std::string nested(int depth) {
  const auto count = static_cast<std::size_t>(depth);
  return std::string(count, '[') + std::string(count, ']');
}

JsonReader reader(const std::string& text) { return JsonReader(parse_json(text), "f.json"); }

template <class Function>
std::string refusal(Function function) {
  const Error error = test::error_of(function);
  EXPECT_EQ(error.kind(), ErrorKind::kCheckpoint);
  return error.what();
}

TEST(JsonReaderTest, ReadsValuesByTypeAndWhatIsAbsentAsDefaults) {
  const JsonReader json =
      reader(R"({"a": {"n": 3, "x": 0.5, "t": "text"}, "list": [1, 2.0], "no": null})");
  EXPECT_EQ(json["a"].integer("n"), 3);
  EXPECT_EQ(json["a"].number("x"), 0.5);
  EXPECT_EQ(json["a"].text("t"), "text");
  EXPECT_EQ(json["list"].elements().at(1).integer(), 2);
  EXPECT_EQ(json["a"].entries().size(), 3U);
  EXPECT_FALSE(json.has("no"));
  EXPECT_EQ(json["no"].text("t"), "");
  EXPECT_EQ(json["b"]["c"].integer("d", 7), 7);
  EXPECT_EQ(json.number("z"), std::nullopt);
  EXPECT_TRUE(json["b"].elements().empty());
  EXPECT_TRUE(json["b"].entries().empty());
}

TEST(JsonReaderTest, AnotherTypeIsNamedWithFileAndKey) {
  const JsonReader json =
      reader(R"({"a": {"n": "three", "l": [{"m": 1.5}]}, "s": [], "u": 1e300})");
  EXPECT_EQ(refusal([&] { json["a"].integer("n"); }),
            "f.json: a.n: expected an integer >= 0, got \"three\"; the file is damaged");
  EXPECT_EQ(refusal([&] { json["a"]["l"].elements().at(0).integer("m"); }),
            "f.json: a.l[0].m: expected an integer >= 0, got 1.5; the file is damaged");
  EXPECT_EQ(refusal([&] { json.number("s"); }),
            "f.json: s: expected a number, got a list; the file is damaged");
  EXPECT_EQ(refusal([&] { json.text("a"); }),
            "f.json: a: expected a text, got an object; the file is damaged");
  EXPECT_EQ(refusal([&] { json["s"].has("x"); }),
            "f.json: s: expected an object, got a list; the file is damaged");
  EXPECT_EQ(refusal([&] { json["a"]["n"].elements(); }),
            "f.json: a.n: expected a list, got \"three\"; the file is damaged");
  EXPECT_EQ(refusal([&] { json.integer("u"); }),
            "f.json: u: expected an integer >= 0, got 1e+300; the file is damaged");
}

TEST(JsonReaderTest, IntegersAreWithinTheirBounds) {
  const JsonReader json =
      reader(R"([-1, 31, 18446744073709551615, 9223372036854775807, 9007199254740994.0])");
  const std::vector<JsonReader> values = json.elements();
  EXPECT_EQ(values[0].integer(-1), -1);
  EXPECT_EQ(refusal([&] { values[1].integer(0, 30); }),
            "f.json: [1]: expected an integer from 0 to 30, got 31; the file is damaged");
  EXPECT_EQ(refusal([&] { values[2].integer(); }),
            "f.json: [2]: expected an integer >= 0, got 18446744073709551615; the file is damaged");
  EXPECT_EQ(values[3].integer(), 9223372036854775807);
  refusal([&] { values[4].integer(); });  // a double that stands for others, too
}

TEST(JsonReaderTest, AFileThatCannotBeReadIsNotAMissingOne) {
  const test::TemporaryFolder folder;
  const std::string message = folder.path().string() + ": cannot be read: Is a directory";
  EXPECT_EQ(test::message_of(ErrorKind::kFileSystem, [&] { JsonReader::of_file(folder.path()); }),
            message);
  EXPECT_EQ(test::message_of(ErrorKind::kFileSystem,
                             [&] { read_json_lines(folder.path(), [](const JsonReader&) {}); }),
            message);
}

TEST(JsonReaderTest, AMissingFileIsNullAndADamagedOneIsRefused) {
  const test::TemporaryFolder folder;
  EXPECT_TRUE(JsonReader::of_file(folder.path() / "none.json").is_null());
  EXPECT_EQ(JsonReader::of_file(folder.write("deep.json", nested(kMaxJsonDepth))).json().size(),
            1U);
  for (const std::string& text :
       {std::string(), std::string("{"), std::string("nonsense"), nested(kMaxJsonDepth + 1),
        nested(300'000), std::string(200'000, '['), std::string(R"({"a":)") + nested(5000)}) {
    const auto path = folder.write("bad.json", text);
    EXPECT_EQ(refusal([&] { JsonReader::of_file(path); }),
              path.string() +
                  ": expected JSON nested at most 100 deep, got something else; the "
                  "file is damaged");
  }
}

TEST(JsonReaderTest, BracketsInTextsDoNotNest) {
  const test::TemporaryFolder folder;
  const auto path = folder.write("a.json", "{\"a\\\"" + std::string(500, '[') + "\": \"\\\\\"}");
  EXPECT_EQ(JsonReader::of_file(path).entries().size(), 1U);
}

TEST(JsonReaderTest, LinesThatAreNoObjectsArePassedOver) {
  const test::TemporaryFolder folder;
  const auto path = folder.write("m.jsonl", "{\"step\":1}\n\n[1]\n" + nested(100'000) +
                                                "\n{\"step\":2,\"x\":1}\n{\"step\":\"a\"}\n{\"st");
  std::vector<int64_t> steps;
  EXPECT_EQ(refusal([&] {
              read_json_lines(
                  path, [&](const JsonReader& line) { steps.push_back(line.integer("step")); });
            }),
            path.string() + ":6: step: expected an integer >= 0, got \"a\"; the file is damaged");
  EXPECT_EQ(steps, (std::vector<int64_t>{1, 2}));
  steps.clear();
  read_json_lines(
      path, [&](const JsonReader& line) { steps.push_back(line.integer("step")); }, "\"x\"");
  EXPECT_EQ(steps, (std::vector<int64_t>{2}));
}

}  // namespace

}  // namespace trainer
