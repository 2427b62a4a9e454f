// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <string_view>

#include <gtest/gtest.h>

#include "trainer/base/error.h"
#include "trainer/table/source/table_reader.h"

#include "support/csv_folder.h"
#include "support/error_of.h"
#include "support/temporary_folder.h"
#include "support/unprivileged.h"

namespace trainer::data {
namespace {

using Floats = std::vector<float>;

class CsvTest : public test::CsvFolderTest {
 protected:
  /// As they are, without offsets.
  Array<float> features(std::string_view content) {
    const std::vector<Column> none;
    return std::get<Array<float>>(
        read(content, {.targets = {"y"}, .with_offsets = &none}).features.values);
  }
};

TEST_F(CsvTest, ReadsFeaturesAndTarget) {
  const Table table = read("a,y,b\n1,cat,2.5\n-3,dog,1e2\n");
  EXPECT_EQ(table.file, (folder_.path() / "t.csv").string());
  EXPECT_EQ(table.feature_names, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(table.target_names.front(), "y");
  EXPECT_EQ(table.targets, (TargetCells{"cat", "dog"}));
  EXPECT_EQ(table.lines, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(table.features.num_rows, 2);
  EXPECT_EQ(table.features.num_columns, 2);
  EXPECT_EQ(std::get<Array<float>>(table.features.values), (Floats{1, 2.5f, -3, 100}));
}

TEST_F(CsvTest, LeavesOutIgnoredColumnsWhateverTheyHold) {
  const Table table = read("id,a,y\nx1,1,0\n,2,1\n", {{"y"}, {"id"}, {}});
  EXPECT_EQ(table.feature_names, std::vector<std::string>{"a"});
  EXPECT_EQ(std::get<Array<float>>(table.features.values), (Floats{1, 2}));
}

TEST_F(CsvTest, ReadsQuotedFieldsWithDelimitersQuotesAndLineBreaks) {
  const Table table = read("\"a\",\"y\"\n\"1\",\"x, \"\"y\"\"\nz\"\n2,\"\"\"\"\n3,w\n");
  EXPECT_EQ(table.targets, (TargetCells{"x, \"y\"\nz", "\"", "w"}));
  EXPECT_EQ(table.lines, (std::vector<int64_t>{2, 4, 5}));
  EXPECT_EQ(std::get<Array<float>>(table.features.values), (Floats{1, 2, 3}));
}

TEST_F(CsvTest, ReadsEveryKindOfLineBreak) {
  for (const char* content : {"a,y\n1,p\n2,q", "a,y\r\n1,p\r\n2,q\r\n", "a,y\r1,p\r2,q\r"}) {
    const Table table = read(content);
    EXPECT_EQ(table.targets, (TargetCells{"p", "q"}));
    EXPECT_EQ(table.lines, (std::vector<int64_t>{2, 3}));
  }
}

TEST_F(CsvTest, SkipsAByteOrderMark) {
  EXPECT_EQ(read("\xEF\xBB\xBF\"a\",y\n1,2\n").feature_names, std::vector<std::string>{"a"});
}

TEST_F(CsvTest, SkipsBlankLinesButCountsThem) {
  const Table table = read("\n  \na,y\n\n1,p\n\r\n \t \n2,q\n\n");
  EXPECT_EQ(table.lines, (std::vector<int64_t>{5, 8}));
}

TEST_F(CsvTest, SkipsSpacesAroundFieldsButNotInsideQuotes) {
  const Table table = read(" a , y\n 1 ,  big cat \n2\t, \" x \" \n");
  EXPECT_EQ(table.feature_names, std::vector<std::string>{"a"});
  EXPECT_EQ(table.targets, (TargetCells{"big cat", " x "}));
  EXPECT_EQ(std::get<Array<float>>(table.features.values), (Floats{1, 2}));
}

TEST_F(CsvTest, KeepsAQuoteInsideAFieldThatBeginsWithoutOne) {
  EXPECT_EQ(read("a,y\n1,5\" disk\n").targets, TargetCells{"5\" disk"});
}

TEST_F(CsvTest, ReadsTabsAndEmptyFieldsBetweenThem) {
  const Table table = read("a\tn\ty\n1\t\tp\n", {{"y"}, {"n"}}, {'\t'});
  EXPECT_EQ(table.targets, TargetCells{"p"});
}

TEST_F(CsvTest, ReadsNumbersInAllForms) {
  EXPECT_EQ(features("a,y\n007,0\n-0.5,0\n.5,0\n5.,0\n+5,0\n1E-3,0\n-12345678.5,0\n"),
            (Floats{7, -0.5f, 0.5f, 5, 5, 0.001f, -12345678.5f}));
}

TEST_F(CsvTest, RoundsNumbersWithManyDigitsAsTheStandardLibraryDoes) {
  for (const char* text : {"0.1234567890123456789", "123456789012345", "1234567890123456",
                           "0.000000000000001", "18446744073709551616", "3.4028234e38", "16777217",
                           "0.30000001192092896", "99999999999999999999.5"}) {
    const Array<float> read = features(std::string("a,y\n") + text + ",0\n");
    EXPECT_EQ(read[0], static_cast<float>(std::stod(text))) << text;
  }
}

TEST_F(CsvTest, RoundsEveryFormOfANumberAlike) {
  for (const char* text : {"9.5",
                           "-12",
                           "-0.1",
                           "1e5",
                           "5.e3",
                           "1E+7",
                           "123456789012345e22",
                           "123456789012345e-22",
                           "1e22",
                           "1e23",
                           "7e-22",
                           "7e-23",
                           "1.5e-30",
                           "1e-0000000000000000000001",
                           "1e-46",
                           "1234567890123456789e10",
                           "1.234567890123456789e-300",
                           "1.234567890123456789e-400",
                           "0.000000000000000000000001",
                           "1234567.890123456",
                           "-2.718281828459045090e+00"}) {
    const std::string number = text;
    const auto expected = static_cast<float>(std::strtod(text, nullptr));
    const Array<float> read = features("a,b,c,d,y\n" + number + ",\"" + number + "\", " + number +
                                       "\t,\t\"" + number + "\" ,0\n");
    EXPECT_EQ(read, (Floats{expected, expected, expected, expected})) << text;
  }
}

TEST_F(CsvTest, ReadsPlainAndOtherNumbersBetweenOtherColumns) {
  const Table table = read("a,b,n,c,y,d,e\n1,+2,x,3.25,p,1e40,0\n", {{"y"}, {"n", "d"}, {}});
  EXPECT_EQ(std::get<Array<float>>(table.features.values), (Floats{1, 2, 3.25f, 0}));
  EXPECT_EQ(features("y,a,b\r\n5,1,\"2\"\r\n6,3,4e0"), (Floats{1, 2, 3, 4}));
}

TEST_F(CsvTest, KeepsTheSignOfZero) { EXPECT_TRUE(std::signbit(features("a,y\n-0,0\n")[0])); }

TEST_F(CsvTest, ReadsTheSampleData) {
  const std::filesystem::path samples = std::filesystem::path(TRAINER_SOURCE_DIR) / "configs/data";
  const Table digits = read_table({samples / "digits.csv"}, {.targets = {"digit"}});
  EXPECT_EQ(digits.features.num_rows, 1797);
  EXPECT_EQ(digits.features.num_columns, 64);
  EXPECT_EQ(digits.lines.back(), 1798);
  const Table cars = read_table({samples / "auto_mpg.csv"},
                                {{"miles_per_gallon"}, {"name", "origin", "horsepower"}, {}});
  EXPECT_EQ(cars.features.num_rows, 398);
  EXPECT_EQ(cars.targets.text(0), "18");
}

// ---- files that cannot be read ----

TEST_F(CsvTest, RefusesAMissingFile) {
  EXPECT_EQ(problem_of({folder_.path() / "absent.csv"}), "absent.csv: no such file");
  EXPECT_EQ(problem_of({folder_.write("a.csv", "") / "b.csv"}), "a.csv/b.csv: no such file");
}

TEST_F(CsvTest, RefusesAnUnreadableFile) {
  const test::Unprivileged user;
  const test::TemporaryFolder folder;
  const auto path = folder.write("secret.csv", "a,y\n1,2\n");
  std::filesystem::permissions(path, std::filesystem::perms::none);
  const Error error = test::error_of([&] { read_table({path}, {.targets = {"y"}}); });
  EXPECT_EQ(error.kind(), ErrorKind::kData);
  EXPECT_EQ(error.what(), path.string() + ": cannot be read: Permission denied");
}

TEST_F(CsvTest, RefusesAFolder) {
  std::filesystem::create_directory(folder_.path() / "sub");
  EXPECT_EQ(
      problem_of({folder_.path() / "sub"}),
      "sub: expected a file, or a folder with tables (.csv, .tsv, .parquet, .json or .jsonl), "
      "got a folder without any");
}

TEST(CsvDeviceTest, RefusesWhatIsNotARegularFile) {
  const Error error = test::error_of([] { read_table({"/dev/zero"}, {.targets = {"y"}}); });
  const Error of_split =
      test::error_of([] { read_table_as({"/dev/zero"}, {.columns = {}, .targets = {}}); });
  EXPECT_STREQ(of_split.what(), error.what());
  EXPECT_STREQ(error.what(), "/dev/zero: is not a regular file");
}

TEST_F(CsvTest, RefusesAnEmptyFile) {
  for (const char* content : {"", "\n\r\n  \n", "\xEF\xBB\xBF"}) {
    EXPECT_EQ(problem(content), "t.csv: the file is empty");
  }
}

TEST_F(CsvTest, RefusesANulByte) {
  EXPECT_EQ(problem(std::string_view("a,y\n1,\0\n", 8)),
            "t.csv:2: NUL byte: this is not UTF-8 text; convert a table saved as UTF-16");
}

// ---- bad headers ----

TEST_F(CsvTest, RefusesAHeaderWithoutRows) {
  EXPECT_EQ(problem("a,y\n"), "t.csv: no data rows after the header");
  EXPECT_EQ(problem("a,y"), "t.csv: no data rows after the header");
}

TEST_F(CsvTest, RefusesOneColumnAndNamesTheDelimiter) {
  EXPECT_EQ(problem("a;b;y\n1;2;3\n"),
            "t.csv:1: with the delimiter comma there is only one column, \"a;b;y\"; did you mean "
            "data.delimiter: semicolon?");
  EXPECT_EQ(problem("a\ty\n1\t3\n"),
            "t.csv:1: with the delimiter comma there is only one column, \"a\\ty\"; did you mean "
            "data.delimiter: tab?");
  EXPECT_EQ(problem("a,y\n1,3\n", {{"y"}}, {.delimiter = '\t'}),
            "t.csv:1: with the delimiter tab there is only one column, \"a,y\"; did you mean "
            "data.delimiter: comma?");
  EXPECT_EQ(problem("a:y\n1:3\n"),
            "t.csv:1: with the delimiter comma there is only one column, \"a:y\"; choose another "
            "with data.delimiter (comma, semicolon, tab or the character itself)");
}

TEST_F(CsvTest, RefusesAColumnWithoutName) {
  EXPECT_EQ(problem("a,,y\n1,2,3\n"), "t.csv:1: column 2 has no name; add one");
  EXPECT_EQ(problem(",a,y\n0,1,2\n"),
            "t.csv:1: column 1 has no name; add one (in pandas: index=False omits the row index)");
}

TEST_F(CsvTest, RefusesTwoColumnsOfOneName) {
  EXPECT_EQ(problem("a,b,a,y\n1,2,3,4\n"),
            "t.csv:1: duplicate column \"a\", in positions 1 and 3; rename one of them");
}

TEST_F(CsvTest, RefusesAnAbsentTarget) {
  EXPECT_EQ(problem("length,species\n1,2\n", {.targets = {"speices"}}),
            "t.csv:1: data.target: column \"speices\" is not in the header; did you mean "
            "\"species\"?");
  EXPECT_EQ(problem("\n\nlength,species\n1,2\n", {.targets = {"price"}}),
            "t.csv:3: data.target: column \"price\" is not in the header; the header has length "
            "and species");
  EXPECT_EQ(problem("c1,c2,c3,c4,c5,c6,c7,c8,c9,c10\n", {.targets = {"price"}}),
            "t.csv:1: data.target: column \"price\" is not in the header; the header has c1, c2, "
            "c3, c4, c5, c6, c7, c8 and 2 more");
}

TEST_F(CsvTest, SaysThatAHeaderIsRequired) {
  EXPECT_EQ(problem("5.1,3.5,0\n4.9,3.0,1\n", {.targets = {"species"}}),
            "t.csv:1: data.target: column \"species\" is not in the header; the first line "
            "contains only numbers; expected a header with column names");
}

TEST_F(CsvTest, RefusesAnAbsentIgnoredColumn) {
  EXPECT_EQ(problem("name,a,y\nx,1,2\n", {{"y"}, {"nmae"}, {}}),
            "t.csv:1: data.ignore: column \"nmae\" is not in the header; did you mean \"name\"?");
}

TEST_F(CsvTest, RefusesAnIgnoredTarget) {
  EXPECT_EQ(problem("a,y\n1,2\n", {{"y"}, {"y"}, {}}),
            "t.csv:1: data.ignore: column \"y\" is the target; remove it from data.ignore or "
            "choose another data.target");
}

TEST_F(CsvTest, RefusesAHeaderWithoutFeatures) {
  EXPECT_EQ(problem("a,y\n1,2\n", {{"y"}, {"a"}, {}}),
            "t.csv:1: no feature columns besides the target \"y\"; remove some from data.ignore "
            "and data.id");
}

// ---- bad rows ----

TEST_F(CsvTest, RefusesARaggedRow) {
  EXPECT_EQ(problem("a,b,y\n1,2,3\n\n1,2\n"), "t.csv:4: expected 3 fields as in the header, got 2");
  EXPECT_EQ(problem("a,b,y\n1,2,3,4\n"), "t.csv:2: expected 3 fields as in the header, got 4");
  EXPECT_EQ(problem("a,b,y\n1,2,3,\n"), "t.csv:2: expected 3 fields as in the header, got 4");
  EXPECT_EQ(problem("a,y\n1"), "t.csv:2: expected 2 fields as in the header, got 1");
}

TEST_F(CsvTest, CallsARowRaggedBeforeItComplainsAboutMovedCells) {
  EXPECT_EQ(problem("a,b,y\n1,x,2,3\n"), "t.csv:2: expected 3 fields as in the header, got 4");
}

TEST_F(CsvTest, NamesTheLineWhereARowWithLineBreaksBegins) {
  EXPECT_EQ(problem("y,a\n\"p\nq\",1\n\"r\ns\",2,3\n"),
            "t.csv:4: expected 2 fields as in the header, got 3");
  EXPECT_EQ(problem("y,a\np,1\n\"p\r\nq\",abc\n"),
            "t.csv:3: column \"a\": expected a number, got \"abc\"; correct it, add it to "
            "data.missing, or list the column "
            "in data.categorical or data.ignore");
}

TEST_F(CsvTest, RefusesTextAmongNumbers) {
  for (const char* text :
       {"abc", "1.2.3", "12abc", "1 2", "0x1F", "--1", "-", ".", "1e", "1e+", "e5", ",", "1,,2"}) {
    EXPECT_EQ(problem(std::string("pixel_0_3,y\n1,2\n\"") + text + "\",2\n"),
              std::string("t.csv:3: column \"pixel_0_3\": expected a number, got \"") + text +
                  "\"; correct it, add it to data.missing, or list the column in "
                  "data.categorical or data.ignore");
  }
}

TEST_F(CsvTest, RefusesTextInADeclaredNumber) {
  EXPECT_EQ(problem("sex,y\nMALE,2\n", {.targets = {"y"}, .numeric = {"sex"}}),
            "t.csv:2: column \"sex\": expected a number, got \"MALE\"; correct it, add it to "
            "data.missing or list the column in data.categorical");
}

TEST_F(CsvTest, SaysHowToWriteNumbersWithCommas) {
  struct Case {
    const char* text;
    const char* plain;
    bool has_groups = false;
  };
  for (const Case& c : {Case{"1,234", "1234", true}, Case{"-12,345,678.5", "-12345678.5", true},
                        Case{"3,14", "3.14"}, Case{"1,5", "1.5"}, Case{"0,5e3", "0.5e3"}}) {
    EXPECT_EQ(problem(std::string("a,y\n\"") + c.text + "\",2\n"),
              std::string("t.csv:2: column \"a\": expected a number, got \"") + c.text +
                  "\"; write it without a comma: " + c.plain +
                  (c.has_groups ? ", or set data.thousands: \",\"" : ""));
  }
}

TEST_F(CsvTest, ReadsMissingNumbersAsNan) {
  const Table table = read("a,b,y\n1,,2\n\"\",1,2\n1,NA,2\n2,NaN,3\n3,nan,4\n5,null,6\n7,?,8\n");
  const auto& values = std::get<Array<float>>(table.features.values);
  EXPECT_EQ(values[0], 1);
  EXPECT_EQ(values[3], 1);
  for (const size_t missing : {1U, 2U, 5U, 7U, 9U, 11U, 13U})
    EXPECT_TRUE(std::isnan(values[missing]));
  EXPECT_EQ(table.columns[1].kind, ColumnKind::kNumeric);
}

TEST_F(CsvTest, RefusesMissingNumbersIfThatIsWanted) {
  const ColumnOptions options{.targets = {"y"}, .fill = config::Imputation::kError};
  const std::string fix = "; fill it in, choose a data.fill, or drop the column with data.ignore";
  EXPECT_EQ(problem("a,b,y\n1,,2\n2,2,2\n", options),
            "t.csv:2: column \"b\": expected a number, got an empty field" + fix);
  EXPECT_EQ(problem("a,b,y\n1,2,2\n1,NULL,2\n", options),
            "t.csv:3: column \"b\": expected a number, got \"NULL\", a missing value" + fix);
}

TEST_F(CsvTest, ShowsTheBeginningOfAMillionCharacters) {
  const std::string shown = '"' + std::string(60, 'x') + "...\"";
  const std::string field(1'000'000, 'x');
  EXPECT_EQ(problem("a,y\n1,2\n" + field + ",2\n"),
            "t.csv:3: column \"a\": expected a number, got " + shown +
                "; correct it, add it to data.missing, or list the column in "
                "data.categorical or data.ignore");
  EXPECT_EQ(
      problem("a,y\n" + field + ",2\n", {.targets = {"y"}, .categorical = {"a"}}),
      "t.csv:2: column \"a\": expected a category of at most 1,000 bytes, got 1,000,000 "
      "bytes: " +
          shown +
          "; check for an unclosed quote, or drop the column with data.ignore if it is free text");
}

TEST_F(CsvTest, RefusesBytesThatAreNoUtf8) {
  EXPECT_EQ(problem("a,b\xE9,y\n1,2,3\n"),
            "t.csv:1: column 2: expected a name in UTF-8, got \"b\\xe9\"; save the file as UTF-8");
  EXPECT_EQ(problem("a,y\np,1\ncaf\xE9,2\n"),
            "t.csv:3: column \"a\": expected text in UTF-8, got \"caf\\xe9\"; save the file as "
            "UTF-8");
}

TEST_F(CsvTest, RefusesInfinity) {
  for (const std::string text : {"inf", "-Infinity", "1e999"}) {
    EXPECT_EQ(problem("a,y\n" + text + ",2\n"),
              "t.csv:2: column \"a\": expected a finite number, got \"" + text + "\"");
  }
}

TEST_F(CsvTest, RefusesNumbersBeyondFloat32) {
  EXPECT_EQ(problem("a,y\n1e39,2\n"),
            "t.csv:2: column \"a\": expected a finite number of at most 3.4e+38, got \"1e39\"");
}

TEST_F(CsvTest, RefusesAMissingTarget) {
  EXPECT_EQ(problem("a,y\n1,p\n2,\n"),
            "t.csv:3: column \"y\": expected a target, got an empty field; fill it in, remove the "
            "row, or drop all such rows with data.drop_rows_without_target: true");
  EXPECT_EQ(problem("a,y\n1,NA\n"),
            "t.csv:2: column \"y\": expected a target, got \"NA\", a missing value; if it is a "
            "class, set data.missing to a list without it; else fill it in, "
            "remove the row, or drop all such rows with data.drop_rows_without_target: true");
}

TEST_F(CsvTest, RefusesAnUnclosedQuote) {
  EXPECT_EQ(problem("a,y\n1,p\n2,\"q\n3,r\n"), "t.csv:3: field 2: unclosed quote");
}

TEST_F(CsvTest, RefusesTextAfterAClosingQuote) {
  EXPECT_EQ(problem("a,y\n1,\"q\" r\n"),
            "t.csv:2: field 2: expected a delimiter after the closing quote, got \"r\"; double a "
            "quote inside a quoted field");
}

}  // namespace
}  // namespace trainer::data
