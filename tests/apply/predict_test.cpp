// SPDX-License-Identifier: Apache-2.0
#include "trainer/apply/predict.h"

#include <sys/stat.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "trainer/base/error.h"
#include "trainer/nn/spec/mlp.h"

#include "support/checkpoints.h"
#include "support/error_of.h"
#include "support/files.h"
#include "support/temporary_folder.h"

namespace trainer::apply {
namespace {

namespace fs = std::filesystem;
using namespace std::string_view_literals;
using test::float_data;
using test::read_file;

/// The only layer is (a, k=p, k=q) -> logits of "no" and of "yes, sir": (0, a + 2 [k=q] - [k=p]).
Model linear_model() {
  Model model;
  model.members = {
      {.network = network::mlp({.num_features = 3, .num_outputs = 2, .hidden_sizes = {}}),
       .weights = {{"layers.0.weight", float_data({2, 3}, {0, 0, 0, 1, -1, 2})},
                   {"layers.0.bias", float_data({2}, {0, 0})}}}};
  data::Schema& schema = model.schema;
  schema.feature_names = {"a", "k=p", "k=q"};
  schema.target_names = {"y"};
  schema.labels = {"no", "yes, sir"};
  schema.scaling = {{0, 0, 0}, {1, 1, 1}};
  schema.columns = {{.name = "id", .kind = data::ColumnKind::kId, .is_declared = true},
                    {.name = "a", .fill = -1.0F},
                    {.name = "k", .kind = data::ColumnKind::kCategorical, .categories = {"p", "q"}},
                    {.name = "note", .kind = data::ColumnKind::kIgnored}};
  return model;
}

/// (a) -> two numbers, in the units of the data 2 a + 10 and -a.
Model regression_model() {
  Model model;
  model.loss = config::Loss::kMse;
  model.members = {
      {.network = network::mlp({.num_features = 1, .num_outputs = 2, .hidden_sizes = {}}),
       .weights = {{"layers.0.weight", float_data({2, 1}, {1, -2})},
                   {"layers.0.bias", float_data({2}, {0, 0})}}}};
  data::Schema& schema = model.schema;
  schema.task = config::Task::kRegression;
  schema.feature_names = {"a"};
  schema.target_names = {"u", "v"};
  schema.scaling = {{0}, {1}};
  schema.target_scaling = {{10, 0}, {0.5F, 2}};
  schema.columns = {{.name = "a"}};
  return model;
}

class PredictTest : public testing::Test {
 protected:
  std::string predict_text(std::string_view content, const Model& model = linear_model()) {
    PredictRequest request = request_for(content);
    notes_.clear();
    report_ = predict(
        model, request, [&](const std::string& note) { notes_.push_back(without_folder(note)); },
        [](const PredictProgress&) { return true; });
    return read_file(request.output);
  }

  PredictRequest request_for(std::string_view content) {
    return {.data = {folder_.write("in.csv", content)}, .output = output()};
  }

  fs::path output() const { return folder_.path() / "out.csv"; }

  std::string problem(const Model& model, const PredictRequest& request, ErrorKind kind) {
    return without_folder(test::message_of(kind, [&] {
      predict(
          model, request, [](const std::string&) {}, [](const PredictProgress&) { return true; });
    }));
  }

  /// The message of an error in the data; no file is left, not even a temporary one.
  std::string problem(std::string_view content, const Model& model = linear_model()) {
    std::string text = problem(model, request_for(content), ErrorKind::kData);
    EXPECT_EQ(num_files(), 1U) << "only the input";
    return text;
  }

  std::size_t num_files() const { return test::file_names(folder_.path()).size(); }

  std::string without_folder(const std::string& text) const {
    return test::replaced(text, folder_.path().string() + "/", "");
  }

  test::TemporaryFolder folder_;
  PredictReport report_;
  std::vector<std::string> notes_;
};

TEST_F(PredictTest, WritesIdsLabelsAndProbabilitiesInTheOrderOfTheRows) {
  EXPECT_EQ(predict_text("k,y,id,a\np,no,007,3\nq,,\"b,\"\"1\"\"\",-2\n,?, NA ,0.5\n"),
            "id,prediction,p_no,\"p_yes, sir\"\n"
            "007,\"yes, sir\",0.11920292,0.8807971\n"
            "\"b,\"\"1\"\"\",no,0.5,0.5\n"
            "NA,\"yes, sir\",0.37754068,0.62245935\n");
  EXPECT_EQ(report_.num_rows, 3);
  EXPECT_TRUE(notes_.empty());
}

TEST_F(PredictTest, KeepsBlanksAndLineBreaksOfIds) {
  EXPECT_EQ(predict_text("id,a,k\n\" x\",1000,p\n\"1\r\n2\",-1000,p\n"),
            "id,prediction,p_no,\"p_yes, sir\"\n"
            "\" x\",\"yes, sir\",0,1\n"
            "\"1\r\n2\",no,1,0\n");
}

TEST_F(PredictTest, WritesTheTargetsOfARegressionInTheirUnits) {
  EXPECT_EQ(predict_text("a\n1\n-2.5\n", regression_model()),
            "prediction_u,prediction_v\n12,-1\n5,2.5\n");
  Model one = regression_model();
  one.members = {
      {.network = network::mlp({.num_features = 1, .num_outputs = 1, .hidden_sizes = {}}),
       .weights = {{"layers.0.weight", float_data({1, 1}, {1})},
                   {"layers.0.bias", float_data({1}, {0})}}}};
  one.schema.target_names = {"u"};
  one.schema.target_scaling = {{0}, {1}};
  EXPECT_EQ(predict_text("a\n0.1\n1e-7\n123456789\n", one), "prediction\n0.1\n1e-07\n123456790\n");
}

TEST_F(PredictTest, OneLogitHasAProbabilityForBothClasses) {
  Model model = regression_model();
  model.loss = config::Loss::kBinaryCrossEntropy;
  model.schema.task = config::Task::kClassification;
  model.schema.target_names = {"y"};
  model.schema.labels = {"0", "1"};
  model.members = {
      {.network = network::mlp({.num_features = 1, .num_outputs = 1, .hidden_sizes = {}}),
       .weights = {{"layers.0.weight", float_data({1, 1}, {1})},
                   {"layers.0.bias", float_data({1}, {0})}}}};
  EXPECT_EQ(predict_text("a\n0\n2\n", model),
            "prediction,p_0,p_1\n0,0.5,0.5\n1,0.11920292,0.8807971\n");
}

TEST_F(PredictTest, TheOutputDependsNeitherOnThreadsNorOnRowsAtOnce) {
  std::string content = "id,a,k\n";
  for (int row = 0; row < 1000; ++row) {
    content += fmt::format("r{},{},{}\n", row, 0.37 * row - 100, row % 3 == 0 ? "p" : "q");
  }
  const std::string expected = predict_text(content);
  for (const int64_t num_threads : {1, 2, 5}) {
    for (const int64_t batch_size : {1, 3, 100, 1000, 5000}) {
      PredictRequest request = request_for(content);
      request.num_threads = num_threads;
      request.batch_size = batch_size;
      predict(
          linear_model(), request, [](const std::string&) {},
          [](const PredictProgress&) { return true; });
      EXPECT_EQ(read_file(output()), expected) << num_threads << " " << batch_size;
    }
  }
}

TEST_F(PredictTest, FurtherColumnsAndLostIdsAreSaidOnce) {
  predict_text("z,k,a,y,note,more\n1,p,2,3,x,\n1,p,2,3,x,\n");
  EXPECT_EQ(
      notes_,
      (std::vector<std::string>{
          "in.csv: ignoring columns \"z\" and \"more\" that the training data did not have",
          "in.csv: the id column \"id\" is not in the header; the predictions do not contain it"}));
}

TEST_F(PredictTest, MissingColumnsAreAllNamed) {
  EXPECT_EQ(problem("id,b,c\n1,2,3\n"),
            "in.csv:1: expected the columns of the training data; missing from the header: \"a\" "
            "and \"k\"");
}

TEST_F(PredictTest, TextInANumericColumnIsAnErrorWithItsLine) {
  EXPECT_EQ(problem("a,k\n1,p\ntwo,q\n"),
            "in.csv:3: column \"a\": expected a number, got \"two\"; correct it: the column was "
            "numeric in the training data");
  EXPECT_EQ(problem("a,k\n\"1,234.5\",p\n"),
            "in.csv:2: column \"a\": expected a number, got \"1,234.5\"; write it without a comma: "
            "1234.5");
  EXPECT_EQ(problem("a,k\ninf,p\n"),
            "in.csv:2: column \"a\": expected a finite number, got \"inf\"");
  EXPECT_EQ(problem("a,k\n1e99,p\n"),
            "in.csv:2: column \"a\": expected a finite number of at most 3.4e+38, got \"1e99\"");
}

TEST_F(PredictTest, MissingNumbersAreFilledOrAnError) {
  EXPECT_EQ(predict_text("a,k\nNaN,q\n,q\n"),
            "prediction,p_no,\"p_yes, sir\"\n"
            "\"yes, sir\",0.26894143,0.7310586\n\"yes, sir\",0.26894143,0.7310586\n");
  fs::remove(output());
  Model model = linear_model();
  model.schema.columns[1].fill.reset();
  EXPECT_EQ(problem("a,k\n1,p\nnan,p\n", model),
            "in.csv:3: column \"a\": expected a number, got \"nan\", a missing value; fill it in: "
            "the model has no fill value for this column");
}

TEST_F(PredictTest, UnknownCategoriesAreCountedOrAnError) {
  predict_text("a,k\n1,p\n2,new\n3,newer\n4,\n");
  EXPECT_EQ(report_.warnings.size(), 1U);
  EXPECT_EQ(without_folder(report_.warnings.at(0)),
            "column \"k\": 3 rows of in.csv have a category that does not occur in the training "
            "split; treated as unknown (data.unknown_category)");
  fs::remove(output());
  Model model = linear_model();
  model.schema.unknown_category = config::UnknownCategory::kError;
  EXPECT_EQ(problem("a,k\n1,p\n2,new\n", model),
            "in.csv:3: column \"k\": expected a category of the training split, got \"new\"; "
            "correct it, or train with data.unknown_category: unknown");
}

TEST_F(PredictTest, RefusesWhatIsNoTableOfRows) {
  EXPECT_EQ(problem("a,k\n"), "in.csv: no data rows after the header");
  EXPECT_EQ(problem(""), "in.csv: the file is empty");
  EXPECT_EQ(problem("a;k\n1;p\n"),
            "in.csv:1: with the delimiter comma there is only one column, \"a;k\"; did you mean "
            "--delimiter semicolon?");
  EXPECT_EQ(problem("a,k\n1,p,7\n"), "in.csv:2: expected 2 fields as in the header, got 3");
  EXPECT_EQ(problem("a,k\n1,\"p\n2,q\n"), "in.csv:2: field 2: unclosed quote");
  EXPECT_EQ(problem("a,k\n1,p\0\n"sv),
            "in.csv:2: NUL byte: this is not UTF-8 text; convert a table saved as UTF-16");
  EXPECT_EQ(problem("a,k\n1,caf\xE9\n"),
            "in.csv:2: column \"k\": expected text in UTF-8, got \"caf\\xe9\"; save the file as "
            "UTF-8");
}

TEST_F(PredictTest, AMillionCharactersAreNoCategoryButMayBeAnId) {
  const std::string text(1'000'000, 'x');
  EXPECT_EQ(problem("a,k\n1," + text + "\n"),
            "in.csv:2: column \"k\": expected a category of at most 1,000 bytes, got 1,000,000 "
            "bytes: \"" +
                std::string(60, 'x') +
                "...\"; check for an unclosed quote, or drop the column with data.ignore if it is "
                "free text");
  EXPECT_EQ(predict_text("a,k,id\n0,r," + text + "\n"),
            "id,prediction,p_no,\"p_yes, sir\"\n" + text + ",no,0.5,0.5\n");
}

TEST_F(PredictTest, RefusesFoldersAndFilesThatAreNotThere) {
  PredictRequest request = request_for("");
  request.data.path = folder_.path() / "no.csv";
  EXPECT_EQ(problem(linear_model(), request, ErrorKind::kData), "no.csv: no such file");
  fs::create_directory(folder_.path() / "folder");
  request.data.path = folder_.path() / "folder";
  EXPECT_EQ(
      problem(linear_model(), request, ErrorKind::kData),
      "folder: expected a file, or a folder with tables (.csv, .tsv, .parquet, .json or .jsonl), "
      "got a folder without any");
}

TEST_F(PredictTest, RefusesOutputsThatCannotBeWritten) {
  PredictRequest request = request_for("a,k\n1,p\n");
  request.output = folder_.path() / "no" / "out.csv";
  EXPECT_EQ(problem(linear_model(), request, ErrorKind::kFileSystem),
            "cannot write no/out.csv: No such file or directory");
  request.output = folder_.path();
  EXPECT_EQ(
      problem(linear_model(), request, ErrorKind::kFileSystem),
      "cannot write " + folder_.path().string() + ": it is a folder; give the name of a file");
  request.output = request.data.path;
  EXPECT_EQ(problem(linear_model(), request, ErrorKind::kUsage),
            "--output: in.csv is the file of --data; choose another file");
}

TEST_F(PredictTest, AnOlderOutputStaysUntilTheNewOneIsComplete) {
  folder_.write("out.csv", "older");
  problem(linear_model(), request_for("a,k\n1,p\nx,p\n"), ErrorKind::kData);
  EXPECT_EQ(read_file(output()), "older");
  PredictRequest request = request_for("a,k\n1,p\n2,p\n3,p\n");
  request.batch_size = 1;
  const PredictReport report = predict(
      linear_model(), request, [](const std::string&) {},
      [](const PredictProgress& progress) { return progress.num_rows < 2; });
  EXPECT_EQ(report.num_rows, 2);
  EXPECT_EQ(read_file(output()), "older");
  EXPECT_EQ(num_files(), 2U);
}

TEST_F(PredictTest, ALinkStaysALinkAndAPipeAPipe) {
  fs::create_symlink("real.csv", output());
  folder_.write("real.csv", "older");
  predict_text("a,k\n0,r\n");
  EXPECT_TRUE(fs::is_symlink(output()));
  EXPECT_EQ(read_file(folder_.path() / "real.csv"), "prediction,p_no,\"p_yes, sir\"\nno,0.5,0.5\n");
  fs::remove(output());
  ASSERT_EQ(mkfifo(output().c_str(), 0600), 0);
  std::string text;
  std::thread reader([&] { text = read_file(output()); });
  predict(
      linear_model(), request_for("a,k\n0,r\n"), [](const std::string&) {},
      [](const PredictProgress&) { return true; });
  reader.join();
  EXPECT_EQ(text, "prediction,p_no,\"p_yes, sir\"\nno,0.5,0.5\n");
  EXPECT_TRUE(fs::is_fifo(output()));
}

TEST_F(PredictTest, RowsThatAreNotFiniteHaveEmptyCells) {
  Model model = linear_model();
  model.schema.scaling.scale = {10, 1, 1};
  EXPECT_EQ(predict_text("a,k\n3e38,r\n0,r\n", model),
            "prediction,p_no,\"p_yes, sir\"\n,,\nno,0.5,0.5\n");
  EXPECT_EQ(report_.warnings.back(),
            "1 row has non-finite outputs; the cells of its predictions are empty");
}

TEST_F(PredictTest, AnIdMayNotHaveTheNameOfAPrediction) {
  Model model = linear_model();
  model.schema.columns[0].name = "p_no";
  EXPECT_EQ(problem("p_no,a,k\n1,2,p\n", model),
            "the copied column \"p_no\" has the same name as a column of the predictions; rename "
            "it in the data, or do not copy it (--keep, data.id)");
}

TEST_F(PredictTest, AModelOfImagesTakesIdxFilesAndTablesOfPixels) {
  Model model = regression_model();
  model.schema.columns.clear();
  model.schema.feature_names = {"pixel_0_0", "pixel_0_1"};
  model.schema.target_names = {"label"};
  model.schema.target_scaling = {{0}, {1}};
  model.schema.scaling = {{0, 0}, {1, 1}};
  model.members = {
      {.network = network::mlp({.num_features = 2, .num_outputs = 1, .hidden_sizes = {}}),
       .weights = {{"layers.0.weight", float_data({1, 2}, {1, 10})},
                   {"layers.0.bias", float_data({1}, {0})}}}};
  const std::string expected = "prediction\n21\n2555\n73\n";
  const std::string_view idx =
      "\0\0\x08\x03\0\0\0\x03\0\0\0\x01\0\0\0\x02\x01\x02\x05\xFF\x03\x07"sv;
  EXPECT_EQ(predict_text(idx, model), expected);
  EXPECT_EQ(predict_text("pixel_0_1,pixel_0_0\n2,1\n255,5\n7,3\n", model), expected);
  fs::remove(output());
  EXPECT_EQ(problem("\0\0\x08\x02\0\0\0\x01\0\0\0\x03\x01\x02\x03"sv, model),
            "in.csv: expected 2 features per row as in the training data, got 3");
}

// ---- columns that are carried along ----

TEST_F(PredictTest, ColumnsAreCarriedAlongAsTheyStand) {
  PredictRequest request = request_for("u,id,k,a,v2,note,v1\n\"x, y\",7,p, 1.50 ,,n,0\n");
  request.kept = {"u", "v*", "a", "id", "k"};
  predict(
      linear_model(), request, [&](const std::string& note) { notes_.push_back(note); },
      [](const PredictProgress&) { return true; });
  EXPECT_EQ(read_file(request.output),
            "id,u,v2,v1,a,k,prediction,p_no,\"p_yes, sir\"\n"
            "7,\"x, y\",,0,1.50,p,\"yes, sir\",0.37754068,0.62245935\n");
  EXPECT_TRUE(notes_.empty());
}

TEST_F(PredictTest, AColumnThatIsNotThereCannotBeCarriedAlong) {
  PredictRequest request = request_for("a,k\n1,p\n");
  const auto problem_of = [&](const char* kept) {
    request.kept = {kept};
    return without_folder(test::error_of([&] {
                            predict(
                                linear_model(), request, [](const std::string&) {},
                                [](const PredictProgress&) { return true; });
                          }).what());
  };
  EXPECT_EQ(problem_of("kk"), "in.csv:1: --keep: \"kk\" is not in the header; did you mean \"k\"?");
  EXPECT_EQ(problem_of("zz*"),
            "in.csv:1: --keep: \"zz*\" matches no column in the header; the header has a and k");
  EXPECT_FALSE(fs::exists(output()));
}

// ---- rows that cannot be read ----

TEST_F(PredictTest, RowsThatCannotBeReadAreLeftOutAndListed) {
  Model model = linear_model();
  model.schema.unknown_category = config::UnknownCategory::kError;
  const std::string_view content =
      "id,a,k\n1,0,p\n2,x,p\n3,0,r\n4,0\n\n5,1e99,p\n6,0,\"q\n\"\n7,0,q\n";
  for (const int64_t batch_size : {1, 2, 3, 100}) {
    PredictRequest request = request_for(content);
    request.batch_size = batch_size;
    request.on_error = OnError::kSkip;
    request.errors = folder_.path() / "errors.csv";
    const PredictReport report = predict(
        model, request, [](const std::string&) {}, [](const PredictProgress&) { return true; });
    EXPECT_EQ(read_file(request.output),
              "id,prediction,p_no,\"p_yes, sir\"\n1,no,0.7310586,0.26894143\n"
              "7,\"yes, sir\",0.11920292,0.8807971\n")
        << batch_size;
    EXPECT_EQ(
        read_file(request.errors),
        "line,reason\n"
        "3,\"column \"\"a\"\": expected a number, got \"\"x\"\"; correct it: the column was "
        "numeric in the training data\"\n"
        "4,\"column \"\"k\"\": expected a category of the training split, got \"\"r\"\"; correct "
        "it, or train with data.unknown_category: unknown\"\n"
        "5,\"expected 3 fields as in the header, got 2\"\n"
        "7,\"column \"\"a\"\": expected a finite number of at most 3.4e+38, got \"\"1e99\"\"\"\n"
        "8,\"column \"\"k\"\": expected a category of the training split, got \"\"q\\n"
        "\"\"; correct it, or train with data.unknown_category: unknown\"\n");
    EXPECT_EQ(report.num_rows, 2);
    EXPECT_EQ(report.num_skipped, 5);
    EXPECT_EQ(report.warnings.size(), 1U);
    EXPECT_TRUE(without_folder(report.warnings.back())
                    .starts_with("skipped 5 rows that could not be read, the first is line 3: "
                                 "column \"a\": expected a number, got \"x\""))
        << report.warnings.back();
  }
}

TEST_F(PredictTest, WhatIsNoMatterOfARowEndsThePredictionAllTheSame) {
  const auto problem_of = [&](std::string_view content) {
    PredictRequest request = request_for(content);
    request.on_error = OnError::kSkip;
    return without_folder(test::error_of([&] {
                            predict(
                                linear_model(), request, [](const std::string&) {},
                                [](const PredictProgress&) { return true; });
                          }).what());
  };
  EXPECT_EQ(problem_of("a,k\n0,p\n0,\"q\n1,p\n"), "in.csv:3: field 2: unclosed quote");
  EXPECT_EQ(problem_of("a,k\nx,p\n"),
            "in.csv: no row could be read: line 2: column \"a\": expected a number, got \"x\"; "
            "correct it: the column was numeric in the training data");
  EXPECT_FALSE(fs::exists(output()));
}

TEST_F(PredictTest, NoOutputTakesThePlaceOfWhatIsRead) {
  Model model = linear_model();
  model.file = folder_.write("m.pt", "model");
  PredictRequest request = request_for("a,k\n0,p\n");
  const auto problem_of = [&] {
    return without_folder(test::error_of([&] {
                            predict(
                                model, request, [](const std::string&) {},
                                [](const PredictProgress&) { return true; });
                          }).what());
  };
  request.output = model.file;
  EXPECT_EQ(problem_of(), "--output: m.pt is the model; choose another file");
  request.output = output();
  request.errors = request.data.path;
  EXPECT_EQ(problem_of(), "--errors: in.csv is the file of --data; choose another file");
  request.errors = folder_.path() / "." / "out.csv";
  EXPECT_EQ(problem_of(), "--errors: ./out.csv is the file of --output; choose another file");
}

// ---- arrays ----

TEST_F(PredictTest, AModelOfArraysTakesArraysOfNumPy) {
  Model model = regression_model();
  model.schema.columns.clear();
  std::string npy("\x93NUMPY\x01\0", 8);
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 1), }";
  header.resize(117, ' ');
  header += '\n';
  npy += static_cast<char>(header.size());
  npy += '\0';
  npy += header;
  for (const float value : {3.0F, 0.5F}) {
    npy.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  EXPECT_EQ(predict_text(npy, model), "prediction_u,prediction_v\n16,-3\n11,-0.5\n");
  fs::remove(output());
  EXPECT_EQ(
      problem(npy, regression_model()),
      "in.csv: expected a CSV file, because the model was trained on a table; got a NumPy array");
}

}  // namespace
}  // namespace trainer::apply
