// SPDX-License-Identifier: Apache-2.0
// Predictions on several threads are those on one thread, and so is everything that is said.
#include <sys/stat.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "trainer/apply/predict.h"
#include "trainer/base/error.h"
#include "trainer/nn/spec/mlp.h"

#include "support/error_of.h"
#include "support/files.h"
#include "support/gzip.h"
#include "support/synthetic_models.h"
#include "support/temporary_folder.h"

namespace trainer::apply {
namespace {

namespace fs = std::filesystem;

/// Of two numbers and a category, with weights that are made up.
Model threads_model() {
  Model model;
  Member& member = model.members.emplace_back();
  member.network = network::mlp({.num_features = 4, .num_outputs = 3, .hidden_sizes = {16}});
  member.weights = test::make_weights(network::tensors(member.network), /*seed=*/1);
  data::Schema& schema = model.schema;
  schema.feature_names = {"a", "b", "k=p", "k=q"};
  schema.target_names = {"y"};
  schema.labels = {"low", "middle", "high"};
  schema.scaling = {{0, 0, 0, 0}, {1, 0.001F, 1, 1}};
  schema.columns = {
      {.name = "id", .kind = data::ColumnKind::kId, .is_declared = true},
      {.name = "a", .fill = 0.5F},
      {.name = "b"},
      {.name = "k", .kind = data::ColumnKind::kCategorical, .categories = {"p", "q"}}};
  return model;
}

std::string number_row(int row) {
  return fmt::format("r{},{:.3f},{},{}\n", row, 0.01 * row - 100, row,
                     row % 3 == 0 ? "p" : (row % 7 == 0 ? "new" : "q"));
}

/// Enough rows for several blocks of a file and several batches of rows.
std::string rows_of_all_kinds() {
  std::string text = "id,a,b,k\r\n";
  for (int row = 0; row < 30'000; ++row) {
    if (row % 1000 == 17) text += "\n \t\n";
    if (row % 900 == 5) {
      text += fmt::format("\"several\nlines, {}\r\n \"\"quoted\"\"\",,7,\"p\"\r\n", row);
    } else if (row % 4000 == 1234) {
      text += fmt::format("bad {},text,1,q\n", row);
    } else if (row % 5000 == 4321) {
      text += fmt::format("short {},1\n", row);
    } else if (row % 6000 == 5000) {
      text += fmt::format("missing {},1,,q\n", row);
    } else {
      text += number_row(row);
    }
  }
  return text;
}

class PredictThreadsTest : public testing::Test {
 protected:
  struct Result {
    std::string predictions = {};
    std::string errors = {};
    std::vector<std::string> warnings = {};
    int64_t num_rows = 0;
    int64_t num_skipped = 0;
    bool operator==(const Result&) const = default;
  };

  PredictRequest request(const fs::path& data, int64_t num_threads) const {
    PredictRequest request{.data = {data}, .output = folder_.path() / "out" / "p.csv"};
    fs::create_directories(request.output.parent_path());
    request.num_threads = num_threads;
    return request;
  }

  static PredictReport predict_all(const PredictRequest& request) {
    return predict(
        threads_model(), request, [](const std::string&) {},
        [](const PredictProgress&) { return true; });
  }

  static Result result(PredictRequest request) {
    request.on_error = OnError::kSkip;
    request.errors = request.output.parent_path() / "errors.csv";
    const PredictReport report = predict_all(request);
    return {test::read_file(request.output), test::read_file(request.errors), report.warnings,
            report.num_rows, report.num_skipped};
  }

  std::string problem(const fs::path& data, int64_t num_threads) const {
    const PredictRequest wanted = request(data, num_threads);
    const std::string text = test::message_of(ErrorKind::kData, [&] { predict_all(wanted); });
    EXPECT_TRUE(fs::is_empty(wanted.output.parent_path())) << "no file is left";
    return test::replaced(text, folder_.path().string() + "/", "");
  }

  test::TemporaryFolder folder_;
};

TEST_F(PredictThreadsTest, TheFilesAndWarningsAreTheSameForAnyNumberOfThreads) {
  const std::string text = rows_of_all_kinds();
  const fs::path path = folder_.write("in.csv", text);
  const Result expected = result(request(path, 1));
  EXPECT_EQ(expected.num_rows + expected.num_skipped, 30'000);
  EXPECT_EQ(expected.num_skipped, 8 + 6 + 5);
  EXPECT_EQ(expected.warnings.size(), 2U);
  for (const int64_t num_threads : {2, 3, 8}) {
    EXPECT_EQ(result(request(path, num_threads)), expected) << num_threads;
  }
  const fs::path packed = folder_.write("in.csv.gz", test::gzipped(text));
  EXPECT_EQ(result(request(packed, 3)).predictions, expected.predictions);
}

TEST_F(PredictThreadsTest, BatchesOfOneRowGiveTheSame) {
  std::string text = "id,a,b,k\n";
  for (int row = 0; row < 300; ++row) {
    text += row % 50 == 20 ? "bad,x,1,p\n\n" : "\n" + number_row(row);
  }
  const fs::path path = folder_.write("in.csv", text);
  const Result expected = result(request(path, 1));
  EXPECT_EQ(expected.num_skipped, 6);
  for (const int64_t num_threads : {1, 2, 3}) {
    PredictRequest one_row = request(path, num_threads);
    one_row.batch_size = 1;
    EXPECT_EQ(result(one_row), expected) << num_threads;
  }
}

TEST_F(PredictThreadsTest, APackedOutputHasTheSameBytes) {
  const fs::path path = folder_.write("in.csv", rows_of_all_kinds());
  std::string expected;
  for (const int64_t num_threads : {1, 2, 3}) {
    PredictRequest packed = request(path, num_threads);
    packed.output = folder_.path() / "p.csv.gz";
    const std::string bytes = result(packed).predictions;
    if (expected.empty()) expected = bytes;
    EXPECT_EQ(bytes, expected) << num_threads;
  }
}

TEST_F(PredictThreadsTest, AFolderOfFilesHasItsRowsInOrder) {
  for (const char* name : {"t/1.csv", "t/2.csv", "t/3.csv"}) {
    folder_.write(name, rows_of_all_kinds());
  }
  const Result expected = result(request(folder_.path() / "t", 1));
  EXPECT_EQ(expected.num_rows + expected.num_skipped, 90'000);
  for (const int64_t num_threads : {2, 3}) {
    EXPECT_EQ(result(request(folder_.path() / "t", num_threads)), expected) << num_threads;
  }
}

TEST_F(PredictThreadsTest, APipeIsReadInOrder) {
  const std::string text = rows_of_all_kinds();
  const Result expected = result(request(folder_.write("in.csv", text), 1));
  const fs::path pipe = folder_.path() / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  for (const int64_t num_threads : {1, 3}) {
    std::thread writer([&] { folder_.write("pipe", text); });
    EXPECT_EQ(result(request(pipe, num_threads)).predictions, expected.predictions);
    writer.join();
  }
}

TEST_F(PredictThreadsTest, TheFirstErrorOfTheFileIsReported) {
  std::string text = "id,a,b,k\n";
  for (int row = 0; row < 20'000; ++row) text += number_row(row);
  const std::string much = text.substr(text.find('\n') + 1);
  const std::string bad_number = "bad,1,x,p\n";
  const std::string open_quote = "bad,1,2,\"p\n";
  const std::string number_problem =
      "in.csv:20002: column \"b\": expected a number, got \"x\"; correct it: the column was "
      "numeric in the training data";
  for (const int64_t num_threads : {1, 2, 3, 8}) {
    for (const std::string& later : {bad_number, open_quote, std::string("1,2\n")}) {
      EXPECT_EQ(problem(folder_.write("in.csv", text + bad_number + later + much), num_threads),
                number_problem);
    }
    EXPECT_EQ(problem(folder_.write("in.csv", text + open_quote + much + bad_number), num_threads),
              "in.csv:20002: field 4: unclosed quote");
    EXPECT_EQ(problem(folder_.write("in.csv", text + "a,b\n" + much + open_quote), num_threads),
              "in.csv:20002: expected 4 fields as in the header, got 2");
    EXPECT_EQ(problem(folder_.write("in.csv", "id,a,b,k\n\n \n"), num_threads),
              "in.csv: no data rows after the header");
  }
}

TEST_F(PredictThreadsTest, RowsBeforeAnErrorReachAPipe) {
  const fs::path pipe = folder_.path() / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  PredictRequest request{.data = {folder_.write("in.csv", "id,a,b,k\nr1,1,1,p\nr2,x,1,p\n")},
                         .output = pipe};
  request.num_threads = 3;
  request.batch_size = 1;
  std::string text;
  std::thread reader([&] { text = test::read_file(pipe); });
  test::message_of(ErrorKind::kData, [&] { predict_all(request); });
  reader.join();
  EXPECT_TRUE(text.starts_with("id,prediction,p_low,p_middle,p_high\nr1,")) << text;
}

TEST_F(PredictThreadsTest, ProgressIsToldInOrderOnThisThreadUntilItIsToEnd) {
  const fs::path path = folder_.write("in.csv", rows_of_all_kinds());
  for (const int64_t num_threads : {1, 2, 3}) {
    PredictRequest stopped = request(path, num_threads);
    stopped.on_error = OnError::kSkip;
    stopped.batch_size = 100;
    int64_t num_told = 0;
    int64_t last = 0;
    const PredictReport report = predict(
        threads_model(), stopped, [](const std::string&) {},
        [&, caller = std::this_thread::get_id()](const PredictProgress& progress) {
          EXPECT_EQ(std::this_thread::get_id(), caller);
          EXPECT_GE(progress.num_rows, last);
          EXPECT_LE(progress.num_bytes, progress.size_hint);
          last = progress.num_rows;
          return ++num_told < 7;
        });
    EXPECT_EQ(num_told, 7);
    EXPECT_EQ(report.num_rows, last);
    EXPECT_TRUE(fs::is_empty(stopped.output.parent_path()));
  }
}

}  // namespace
}  // namespace trainer::apply
