// SPDX-License-Identifier: Apache-2.0
#include "trainer/table/source/npy.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "trainer/config/data_config.h"
#include "trainer/table/dataset.h"

#include "support/data_folder.h"
#include "support/npy.h"
#include "support/temporary_folder.h"

namespace trainer::data {
namespace {

using Bytes = std::vector<uint8_t>;
using Floats = std::vector<float>;
using Words = std::vector<std::string>;

using test::element_bytes;
using test::npy_file;
using test::npy_header;

class NpyTest : public test::DataFolderTest {
 protected:
  NpyFile read(const std::string& content) { return read_npy(folder_.write("a.npy", content)); }
  Array<float> floats(const std::string& content) {
    return std::get<Array<float>>(read(content).elements.values);
  }
  std::string problem(const std::string& content) {
    return message_of([&] { read(content); });
  }
};

TEST_F(NpyTest, EveryTypeInBothByteOrdersBecomesFloat) {
  const Floats expected = {1, -2, 100};
  const std::string shape = "(3,)";
  for (const bool big : {false, true}) {
    const std::string order = big ? ">" : "<";
    const auto check = [&](const std::string& type, const auto& elements) {
      EXPECT_EQ(floats(npy_file(npy_header(order + type, shape), element_bytes(elements, big))),
                expected)
          << order << type;
    };
    check("f2", std::vector<uint16_t>{0x3C00, 0xC000, 0x5640});
    check("f4", Floats{1, -2, 100});
    check("f8", std::vector<double>{1, -2, 100});
    check("i2", std::vector<int16_t>{1, -2, 100});
    check("i4", std::vector<int32_t>{1, -2, 100});
    check("i8", std::vector<int64_t>{1, -2, 100});
  }
  EXPECT_EQ(
      floats(npy_file(npy_header("|i1", shape), element_bytes(std::vector<int8_t>{1, -2, 100}))),
      expected);
  EXPECT_EQ(
      floats(npy_file(npy_header("<u8", "(1,)"), element_bytes(std::vector<uint64_t>{70000}))),
      Floats{70000});
}

TEST_F(NpyTest, HalvesAreThoseOfIeee) {
  // 1/3 rounded, the largest, the smallest normal and subnormal numbers, and minus zero
  const Floats expected = {0.333251953125F, 65504, 6.103515625e-05F, 5.9604644775390625e-08F,
                           -0.0F};
  const std::string content =
      npy_file(npy_header("<f2", "(5,)"),
               element_bytes(std::vector<uint16_t>{0x3555, 0x7BFF, 0x0400, 0x0001, 0x8000}));
  EXPECT_EQ(floats(content), expected);
  EXPECT_TRUE(std::signbit(floats(content)[4]));
  EXPECT_EQ(
      problem(npy_file(npy_header("<f2", "(1,)"), element_bytes(std::vector<uint16_t>{0xFC00}))),
      "a.npy: element [0]: expected a finite float32 number, got -inf; correct it or remove its "
      "row");
}

TEST_F(NpyTest, BytesAndBoolsStayBytes) {
  const NpyFile bytes = read(npy_file(npy_header("|u1", "(2, 2)"), {'\0', '\1', '\xFF', '\x80'}));
  EXPECT_EQ(std::get<Array<uint8_t>>(bytes.elements.values), (Bytes{0, 1, 255, 128}));
  EXPECT_EQ(bytes.elements.num_rows, 2);
  EXPECT_EQ(bytes.elements.num_columns, 2);
  const NpyFile bools = read(npy_file(npy_header("|b1", "(2, 1)"), {'\1', '\0'}));
  EXPECT_EQ(std::get<Array<uint8_t>>(bools.elements.values), (Bytes{1, 0}));
}

TEST_F(NpyTest, EveryVersionOfTheFormatIsRead) {
  for (const int version : {1, 2, 3}) {
    EXPECT_EQ(floats(npy_file(npy_header("<f4", "(2, 1)"), element_bytes(Floats{3, 4}), version)),
              (Floats{3, 4}));
  }
  EXPECT_EQ(problem(npy_file(npy_header("<f4", "(1,)"), element_bytes(Floats{3}), 4)),
            "a.npy: expected format version 1, 2 or 3, got 4; save it again with numpy.save");
}

TEST_F(NpyTest, FortranOrderBecomesCOrder) {
  // array([[1, 2, 3], [4, 5, 6]])
  EXPECT_EQ(floats(npy_file(npy_header("<f4", "(2, 3)", "True"),
                            element_bytes(Floats{1, 4, 2, 5, 3, 6}))),
            (Floats{1, 2, 3, 4, 5, 6}));
  // arange(12).reshape(2, 3, 2): element [i, j, k] is 6 i + 2 j + k
  const NpyFile file = read(npy_file(npy_header("<f4", "(2, 3, 2)", "True"),
                                     element_bytes(Floats{0, 6, 2, 8, 4, 10, 1, 7, 3, 9, 5, 11})));
  EXPECT_EQ(std::get<Array<float>>(file.elements.values),
            (Floats{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}));
  EXPECT_EQ(file.elements.num_rows, 2);
  EXPECT_EQ(file.elements.num_columns, 6);
  EXPECT_EQ(file.shape, (std::vector<int64_t>{2, 3, 2}));
}

TEST_F(NpyTest, AnArrayOfManyChunksIsReadWhole) {
  Floats expected(700001);
  for (size_t i = 0; i < expected.size(); ++i) expected[i] = static_cast<float>(i % 1000);
  EXPECT_EQ(floats(npy_file(npy_header("<f4", "(700001,)"), element_bytes(expected))), expected);
}

TEST_F(NpyTest, ElementsThatAreNotFiniteAreNamedByTheirIndex) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(problem(npy_file(npy_header("<f4", "(2, 3)", "True"),
                             element_bytes(Floats{1, 4, 2, nan, 3, 6}))),
            "a.npy: element [1, 1]: expected a finite float32 number, got nan; correct it or "
            "remove its row");
  EXPECT_EQ(
      problem(npy_file(npy_header("<f8", "(1, 2)"), element_bytes(std::vector<double>{0, 1e300}))),
      "a.npy: element [0, 1]: expected a finite float32 number, got 1e+300; correct it or remove "
      "its row");
}

TEST_F(NpyTest, OtherTypesAreRefusedWithAWayOut) {
  const std::string end =
      "; expected float16 to float64, integers or bool: save array.astype('float32')";
  EXPECT_EQ(problem(npy_file(npy_header("|O", "(1,)"), "x")),
            "a.npy: the elements are pickled Python objects (\"|O\")" + end);
  EXPECT_EQ(problem(npy_file(npy_header("<c8", "(1,)"), "12345678")),
            "a.npy: the elements are complex numbers (\"<c8\")" + end);
  EXPECT_EQ(problem(npy_file(npy_header("<U3", "(1,)"), "x")),
            "a.npy: the elements are strings (\"<U3\")" + end);
  EXPECT_EQ(
      problem(npy_file("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }", "")),
      "a.npy: the elements are structured" + end);
  EXPECT_EQ(problem(npy_file(npy_header("<f16", "(1,)"), "x")),
            "a.npy: the elements are of an unknown type (\"<f16\")" + end);
}

TEST_F(NpyTest, SizesAreComparedWithTheFileBeforeMemoryIsTaken) {
  EXPECT_EQ(problem(npy_file(npy_header("<f4", "(2, 3)"), element_bytes(Floats{1, 2, 3, 4, 5}))),
            "a.npy: expected 24 bytes of elements (shape [2, 3]), got 20; the file is truncated, "
            "download or copy it again");
  EXPECT_EQ(problem(npy_file(npy_header("<f4", "(1,)"), element_bytes(Floats{1, 2}))),
            "a.npy: expected 4 bytes of elements (shape [1]), got 8; save one array per file with "
            "numpy.save");
  EXPECT_EQ(problem(npy_file(npy_header("<f4", "(1000000000000, 3)"), "abcd")),
            "a.npy: expected 12,000,000,000,000 bytes of elements (shape [1000000000000, 3]), got "
            "4; the file is truncated, download or copy it again");
  EXPECT_EQ(problem(npy_file(npy_header("<f8", "(4000000000, 4000000000, 3)"), "")),
            "a.npy: invalid shape [4000000000, 4000000000, 3]");
  EXPECT_EQ(problem(npy_file(npy_header("<f4", "(0, 3)"), "")),
            "a.npy: no elements: the shape is [0, 3]");
  EXPECT_EQ(problem(npy_file(npy_header("<f4", "()"), "abcd")),
            "a.npy: expected an array, got a scalar");
}

TEST_F(NpyTest, DamagedFilesAreRefused) {
  EXPECT_EQ(problem(""), "a.npy: the file is empty");
  const std::string not_npy =
      "a.npy: not a .npy file: it does not start with 93 4e 55 4d 50 59 (\\x93NUMPY); save the "
      "array with numpy.save";
  EXPECT_EQ(problem("a,b\n1,2\n"), not_npy);
  EXPECT_EQ(problem("\x93NUM"), not_npy);
  EXPECT_EQ(problem("PK\3\4 and so on"),
            "a.npy: is a NumPy archive (.npz); save the array itself with numpy.save");
  const std::string whole = npy_file(npy_header("<f4", "(2, 1)"), element_bytes(Floats{1, 2}));
  EXPECT_EQ(problem(whole.substr(0, 9)), "a.npy: the file ends within its header; it is truncated");
  EXPECT_EQ(problem(whole.substr(0, 50)),
            "a.npy: the file ends within its header; download or copy it again");
  EXPECT_EQ(message_of([&] { read_npy(folder_.path() / "none.npy"); }), "none.npy: no such file");
}

TEST_F(NpyTest, DamagedHeadersAreRefused) {
  for (const char* header :
       {"", "{", "{'descr': '<f4'", "{'descr': '<f4', 'fortran_order': False}",
        "{'descr': '<f4', 'fortran_order': 0, 'shape': (1,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'more': 1}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} x", "{'descr"}) {
    EXPECT_TRUE(
        problem(npy_file(header, "abcd"))
            .starts_with(
                "a.npy: damaged header: expected a dict of descr, fortran_order and shape, got "))
        << header;
  }
}

// Any byte of a file may be wrong: it is read, or refused.
TEST_F(NpyTest, EveryByteMayBeWrong) {
  const std::string whole =
      npy_file(npy_header("<f4", "(2, 2)"), element_bytes(Floats{1, 2, 3, 4}));
  for (size_t i = 0; i < whole.size(); ++i) {
    for (const char byte : {'\0', '9', '\'', '\xFF'}) {
      std::string damaged = whole;
      damaged[i] = byte;
      try {
        EXPECT_LE(read(damaged).elements.num_rows, 16);
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::kData) << i;
      }
    }
  }
}

class NpyPairTest : public NpyTest {
 protected:
  Table pair(const std::string& features, const std::string& targets) {
    return read_npy_pair(folder_.write("x.npy", features), folder_.write("y.npy", targets));
  }

  std::string features_ =
      npy_file(npy_header("<f4", "(2, 3)"), element_bytes(Floats{1, 2, 3, 4, 5, 6}));
};

TEST_F(NpyPairTest, TargetsKeepAllTheirDigits) {
  const Table table = pair(features_, npy_file(npy_header("<i8", "(2,)"),
                                               element_bytes(std::vector<int64_t>{1LL << 62, -7})));
  EXPECT_EQ(table.feature_names, (Words{"x0", "x1", "x2"}));
  EXPECT_EQ(table.target_names, Words{"y"});
  EXPECT_EQ(table.targets, (TargetCells{"4611686018427387904", "-7"}));
  EXPECT_EQ(table.fingerprints.size(), 2U);
  EXPECT_EQ(pair(features_, npy_file(npy_header("|b1", "(2,)"), {'\1', '\0'})).targets,
            (TargetCells{"1", "0"}));
  EXPECT_EQ(pair(features_, npy_file(npy_header("<f4", "(2, 1)"), element_bytes(Floats{0.1F, 3})))
                .targets,
            (TargetCells{"0.1", "3"}));
}

TEST_F(NpyPairTest, SeveralTargetsHaveNumbers) {
  const Table table = pair(features_, npy_file(npy_header("<f4", "(2, 2)", "True"),
                                               element_bytes(Floats{0.5F, 1.5F, 2, 3})));
  EXPECT_EQ(table.target_names, (Words{"y0", "y1"}));
  EXPECT_EQ(table.targets, (TargetCells{"0.5", "2", "1.5", "3"}));
}

TEST_F(NpyPairTest, ShapesThatDoNotFitAreRefused) {
  const std::string two = npy_file(npy_header("|u1", "(2,)"), {'\1', '\2'});
  EXPECT_EQ(message_of([&] { pair(two, two); }),
            "x.npy: expected features [n, features], got shape [2]; save array.reshape(-1, 1) if "
            "it is a single feature");
  EXPECT_EQ(message_of([&] { pair(features_, npy_file(npy_header("|u1", "(3,)"), "abc")); }),
            "y.npy: expected one target for each of the 2 rows of x.npy, got 3; save both files "
            "from the same rows");
  EXPECT_EQ(message_of([&] { pair(two, npy_file(npy_header("|u1", "(2, 1, 1)"), "ab")); }),
            "y.npy: expected targets [n] or [n, targets], got shape [2, 1, 1]; check that features "
            "and targets are not swapped");
  EXPECT_EQ(message_of([&] {
              pair(features_, npy_file(npy_header("<f4", "(2,)"), element_bytes(Floats{1, NAN})));
            }),
            "y.npy: element [1]: expected a finite float32 number, got nan; correct it or remove "
            "its row");
}

class NpyDatasetTest : public NpyTest {
 protected:
  config::DataConfig data() {
    config::DataConfig data;
    data.source = config::Source::kNpy;
    data.npy.features = folder_.write("x.npy", images_).string();
    data.npy.targets =
        folder_
            .write("y.npy", npy_file(npy_header("<i4", "(4,)"),
                                     element_bytes(std::vector<int32_t>{7, 5, 7, 5})))
            .string();
    data.validation_fraction = 0;
    data.test_fraction = 0;
    return data;
  }

  std::string images_ = npy_file(npy_header("|u1", "(4, 1, 2)"), "abcdefgh");
};

TEST_F(NpyDatasetTest, WholeNumbersAreClassesAndImagesAreFlat) {
  const Datasets datasets = load_datasets(data(), 1);
  EXPECT_EQ(datasets.schema.labels, (Words{"5", "7"}));
  EXPECT_EQ(datasets.schema.feature_names, (Words{"x0", "x1"}));
  EXPECT_TRUE(std::holds_alternative<Array<uint8_t>>(datasets.train.features.values));
  EXPECT_EQ(datasets.train.source_lines, (std::vector<int64_t>{1, 2, 3, 4}));
}

TEST_F(NpyDatasetTest, FractionsAndSeveralTargetsAreARegression) {
  config::DataConfig config = data();
  folder_.write("y.npy", npy_file(npy_header("<f8", "(4, 2)"),
                                  element_bytes(std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8})));
  const Datasets datasets = load_datasets(config, 1);
  EXPECT_EQ(datasets.schema.task, config::Task::kRegression);
  EXPECT_EQ(datasets.schema.target_names, (Words{"y0", "y1"}));
  EXPECT_EQ(datasets.train.values.size(), 8U);
  EXPECT_EQ(datasets.train.source_lines.size(), 4U);
  config.task = config::Task::kClassification;
  EXPECT_EQ(message_of([&] { load_datasets(config, 1); }),
            "y.npy: 2 targets, but only regression supports several; keep one, or set data.task: "
            "regression");
}

TEST_F(NpyDatasetTest, ATestPartHasTheSameShape) {
  config::DataConfig config = data();
  config.npy.test_features =
      folder_.write("xt.npy", npy_file(npy_header("<f4", "(1, 2)"), element_bytes(Floats{1, 2})))
          .string();
  config.npy.test_targets =
      folder_.write("yt.npy", npy_file(npy_header("|u1", "(1,)"), {'\5'})).string();
  const Datasets datasets = load_datasets(config, 1);
  EXPECT_EQ(datasets.test.classes, std::vector<int64_t>{0});
  EXPECT_EQ(datasets.fingerprints.size(), 4U);
  folder_.write("xt.npy", npy_file(npy_header("<f4", "(1, 3)"), element_bytes(Floats{1, 2, 3})));
  EXPECT_EQ(message_of([&] { load_datasets(config, 1); }),
            "xt.npy: expected 2 features per row as in x.npy, got 3");
}

}  // namespace
}  // namespace trainer::data
