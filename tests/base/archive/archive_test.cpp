// SPDX-License-Identifier: Apache-2.0
#include "trainer/base/archive/archive.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "trainer/base/error.h"
#include "trainer/base/io/checksum.h"

#include "base/archive/pickle.h"
#include "base/archive/zip.h"
#include "support/error_of.h"
#include "support/files.h"
#include "support/python.h"
#include "support/temporary_folder.h"

namespace trainer::archive {
namespace {

namespace fs = std::filesystem;
using test::error_of;
using test::TemporaryFolder;
using namespace std::string_literals;

constexpr DType kAllDTypes[] = {DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kBFloat16,
                                DType::kInt64,   DType::kInt32,   DType::kInt16,   DType::kInt8,
                                DType::kUInt8,   DType::kBool};

template <typename T>
TensorData make_tensor(DType dtype, std::vector<int64_t> shape, const std::vector<T>& elements) {
  auto owner = std::make_shared<std::vector<T>>(elements);
  const auto* data = reinterpret_cast<const std::byte*>(owner->data());
  return {dtype, std::move(shape), data, owner};
}

// 0, 1, 2, 3, 4, 5 as a tensor of two rows.
TensorData counting_tensor(DType dtype) {
  const std::vector<int64_t> shape = {2, 3};
  switch (dtype) {
    case DType::kFloat32:
      return make_tensor<float>(dtype, shape, {0, 1, 2, 3, 4, 5});
    case DType::kFloat64:
      return make_tensor<double>(dtype, shape, {0, 1, 2, 3, 4, 5});
    case DType::kFloat16:
      return make_tensor<uint16_t>(dtype, shape, {0, 0x3C00, 0x4000, 0x4200, 0x4400, 0x4500});
    case DType::kBFloat16:
      return make_tensor<uint16_t>(dtype, shape, {0, 0x3F80, 0x4000, 0x4040, 0x4080, 0x40A0});
    case DType::kInt64:
      return make_tensor<int64_t>(dtype, shape, {0, 1, 2, 3, 4, 5});
    case DType::kInt32:
      return make_tensor<int32_t>(dtype, shape, {0, 1, 2, 3, 4, 5});
    case DType::kInt16:
      return make_tensor<int16_t>(dtype, shape, {0, 1, 2, 3, 4, 5});
    case DType::kInt8:
    case DType::kUInt8:
      return make_tensor<uint8_t>(dtype, shape, {0, 1, 2, 3, 4, 5});
    case DType::kBool:
      return make_tensor<uint8_t>(dtype, shape, {0, 1, 1, 1, 1, 1});
  }
  return {};
}

bool same(const Value& a, const Value& b);

bool same(std::monostate, std::monostate) { return true; }
bool same(double a, double b) { return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b); }
template <typename T>
bool same(const T& a, const T& b) {
  return a == b;
}
bool same(const TensorData& a, const TensorData& b) {
  return a.dtype == b.dtype && a.shape == b.shape &&
         (a.num_bytes() == 0 || std::memcmp(a.data, b.data, a.num_bytes()) == 0);
}
bool same(const List& a, const List& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Value& x, const Value& y) { return same(x, y); });
}
bool same(const Dict& a, const Dict& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return x.first == y.first && same(x.second, y.second);
  });
}
bool same(const Value& a, const Value& b) {
  if (a.storage().index() != b.storage().index()) return false;
  return std::visit(
      [&](const auto& content) {
        return same(content, std::get<std::decay_t<decltype(content)>>(b.storage()));
      },
      a.storage());
}

// One of everything; the Python script knows the same values.
Dict everything() {
  Dict tensors;
  for (const DType dtype : kAllDTypes)
    tensors.emplace_back(dtype_name(dtype), counting_tensor(dtype));
  tensors.emplace_back("scalar", make_tensor<double>(DType::kFloat64, {}, {1.5}));
  tensors.emplace_back("empty", TensorData{DType::kFloat32, {0, 3}, nullptr, nullptr});
  const int64_t two_31 = int64_t{1} << 31;
  return {
      {"none", {}},
      {"flags", List{true, false}},
      {"integers", List{0, 255, 256, -1, 65536, two_31 - 1, two_31, -two_31 - 1,
                        std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()}},
      {"floats", List{0.1, -2.5, std::numeric_limits<double>::infinity(), std::nan("")}},
      {"texts", List{"", "h\xC3\xA9 \xE2\x82\xAC", "line\nend\0"s}},
      {"tensors", tensors},
      {"nested",
       Dict{{"path", "caf\xE9"}, {"deep", Dict{{"a", List{List{}, Dict{}, List{1, List{2}}}}}}}},
  };
}

class ArchiveTest : public ::testing::Test {
 protected:
  fs::path path(const std::string& name = "a.pt") const { return folder_.path() / name; }

  std::string refusal(const fs::path& file) const {
    return test::after(file.string() + ": ",
                       test::message_of(ErrorKind::kCheckpoint, [&] { load(file); }));
  }

  // A file with this pickle, and 16 float elements as storage "0".
  fs::path write_pickled(const std::string& operations) const {
    AtomicFile file(path());
    ZipWriter zip(file);
    const std::string pickle = "\x80\x02" + operations;
    zip.add("x/data.pkl", std::as_bytes(std::span(pickle)));
    zip.add("x/data/0", std::vector<std::byte>(64));
    zip.finish();
    file.commit();
    return path();
  }

  std::string pickle_error(const std::string& operations) const {
    return refusal(write_pickled(operations));
  }

  TemporaryFolder folder_;
};

TEST_F(ArchiveTest, GivesBackEveryKindOfValue) {
  save(path(), everything());
  EXPECT_TRUE(same(load(path()), everything()));
}

TEST_F(ArchiveTest, GivesBackAnEmptyDict) {
  save(path(), {});
  EXPECT_TRUE(load(path()).empty());
}

TEST_F(ArchiveTest, AlignsTensorsInMemory) {
  save(path(), everything());
  const Dict loaded = load(path());
  for (const auto& [name, value] : *find(loaded, "tensors")->get_if<Dict>()) {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(value.get_if<TensorData>()->data) % 64, 0U) << name;
  }
}

TEST_F(ArchiveTest, KeepsATensorAliveWithoutTheRest) {
  save(path(), everything());
  const TensorData tensor = [&] {
    const Dict loaded = load(path());
    return *find(*find(loaded, "tensors")->get_if<Dict>(), "int64")->get_if<TensorData>();
  }();
  EXPECT_TRUE(same(tensor, counting_tensor(DType::kInt64)));
}

// Of several megabytes, so that threads read parts of it.
TEST_F(ArchiveTest, GivesBackALargeTensor) {
  std::vector<int32_t> elements(1'300'007);
  std::iota(elements.begin(), elements.end(), 0);
  const TensorData large = make_tensor(DType::kInt32, {1'300'007}, elements);
  save(path(), {{"large", large}});
  EXPECT_TRUE(same(*find(load(path()), "large")->get_if<TensorData>(), large));
}

TEST_F(ArchiveTest, WritesEqualBytesForEqualValues) {
  save(path("first.pt"), everything());
  save(path("second.pt"), everything());
  EXPECT_EQ(test::read_file(path("first.pt")), test::read_file(path("second.pt")));
}

TEST_F(ArchiveTest, NestsAsDeepForTheWriterAsForTheReader) {
  Value value;
  for (int i = 1; i < kMaxDepth; ++i) value = List{value};
  const Dict deepest = {{"a", value}};
  save(path(), deepest);
  EXPECT_TRUE(same(load(path()), deepest));
  const Error error = error_of([&] { save(path(), {{"a", List{value}}}); });
  EXPECT_EQ(error.kind(), ErrorKind::kRuntime);
  EXPECT_EQ(error.what(),
            fmt::format("cannot write {}: nested more than 100 levels deep", path().string()));
}

TEST_F(ArchiveTest, DoesNotWriteWhatItCouldNotRead) {
  EXPECT_EQ(error_of([&] {
              save(path(), {{"a", 1}, {"a", 2}});
            }).what(),
            fmt::format("cannot write {}: duplicate key \"a\"", path().string()));
  const TensorData tensor{DType::kFloat32, {3}, nullptr, nullptr};
  EXPECT_EQ(error_of([&] {
              save(path(), {{"a", tensor}});
            }).what(),
            fmt::format("cannot write {}: a tensor has elements but no data", path().string()));
  EXPECT_FALSE(fs::exists(path()));
}

TEST_F(ArchiveTest, SaysThatTheFolderIsMissing) {
  const fs::path missing = path("none") / "a.pt";
  const Error error = error_of([&] { save(missing, everything()); });
  EXPECT_EQ(error.kind(), ErrorKind::kFileSystem);
  EXPECT_EQ(error.what(),
            fmt::format("cannot write {}: No such file or directory", missing.string()));
}

TEST_F(ArchiveTest, RefusesWhatIsNoArchive) {
  EXPECT_EQ(refusal(path()), "cannot be opened: No such file or directory");
  EXPECT_EQ(refusal(folder_.path()), "is a folder, expected a checkpoint file");
  EXPECT_EQ(refusal("/dev/null"), "is not a regular file, expected a checkpoint file");
  EXPECT_EQ(refusal(folder_.write("a.pt", "")),
            "is empty: it was not written completely; use an older checkpoint");
  EXPECT_EQ(refusal(folder_.write("a.pt", "seed: 1\n")),
            "expected a zip file as written by torch.save, got a file that starts with \"seed: 1\\n"
            "\"");
  EXPECT_EQ(refusal(folder_.write(
                "a.pt", "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.\x80\x02"s)),
            "is in the format that torch.save used before PyTorch 1.6; load it in Python and save "
            "it again with torch.save");
}

TEST_F(ArchiveTest, RefusesAZipFileOfSomethingElse) {
  AtomicFile file(path());
  ZipWriter zip(file);
  zip.add("word/document.xml", {});
  zip.finish();
  file.commit();
  EXPECT_EQ(refusal(path()),
            "is a zip file, but not written by torch.save: it has no record data.pkl");
}

TEST_F(ArchiveTest, RefusesAnotherByteOrder) {
  AtomicFile file(path());
  ZipWriter zip(file);
  zip.add("x/data.pkl", std::as_bytes(std::span("\x80\x02}.", 4)));
  zip.add("x/byteorder", std::as_bytes(std::span("big", 3)));
  zip.finish();
  file.commit();
  EXPECT_EQ(refusal(path()), "expected byte order \"little\", got \"big\"");
}

TEST_F(ArchiveTest, RefusesAGlobalThatIsNotPlain) {
  EXPECT_EQ(pickle_error("cos\nsystem\nX\x02\0\0\0ls\x85R."s),
            "record data.pkl: refused to read \"os.system\": only plain containers, numbers, "
            "strings and tensors are accepted");
}

TEST_F(ArchiveTest, RefusesARootThatIsNoDict) {
  EXPECT_EQ(pickle_error("]."),
            "record data.pkl: expected a dict; save a dict of plain values and tensors");
}

TEST_F(ArchiveTest, RefusesKeysThatAreNoStringsOrStandTwice) {
  EXPECT_EQ(pickle_error("}X\x05\0\0\0state}K\x00Nss."s),
            "record data.pkl: \"state\": a key of this dict is the int 0, expected a string");
  EXPECT_EQ(pickle_error("}NNs."),
            "record data.pkl: a key of this dict is not a string, expected a string");
  EXPECT_EQ(pickle_error("}X\x01\0\0\0aNsX\x01\0\0\0aNs."s),
            "record data.pkl: duplicate key \"a\"");
}

TEST_F(ArchiveTest, RefusesAFunctionAsAValue) {
  EXPECT_EQ(pickle_error("}X\x01\0\0\0a]ctorch\nFloatStorage\nas."s),
            "record data.pkl: \"a.0\": is neither a plain container, a number, a string nor a "
            "tensor");
}

TEST_F(ArchiveTest, RefusesAListThatHoldsItself) {
  EXPECT_EQ(pickle_error("}X\x01\0\0\0a]q\x01h\x01\x61s."s).substr(0, 24),
            "record data.pkl: \"a.0.0.");
}

// Each list holds the one before it twice: 2^40 values in 300 bytes.
TEST_F(ArchiveTest, RefusesATreeThatIsFarLargerThanItsFile) {
  std::string operations = "}X\x01\0\0\0a]q\x00"s;
  for (char i = 0; i < 40; ++i) {
    operations += "0](h"s + i + "h"s + i + "eq"s + static_cast<char>(i + 1);
  }
  const std::string message = pickle_error(operations + "s.");
  EXPECT_NE(message.find("the file holds more than 4000000 values"), std::string::npos) << message;
}

TEST_F(ArchiveTest, RefusesTextThatIsFarLargerThanItsFile) {
  std::string operations =
      "}X\x01\0\0\0a](X\x00\x00\x10\x00"s + std::string(1 << 20, 't') + "q\x01"s;
  for (int i = 0; i < 300; ++i) operations += "h\x01";
  const std::string message = pickle_error(operations + "es.");
  EXPECT_EQ(message,
            "record data.pkl: \"a.255\": the file holds more than 268435456 bytes of strings");
}

// The pickle of {"t": a float tensor over storage "0"}, with these operations for its parts.
std::string tensor_pickle(const std::string& num_stored, const std::string& rest) {
  return "}X\x01\0\0\0tctorch._utils\n_rebuild_tensor_v2\n(("
         "X\x07\0\0\0storagectorch\nFloatStorage\n"
         "X\x01\0\0\0"
         "0X\x03\0\0\0cpu"s +
         num_stored + "tQ" + rest + "\x89NtRs.";
}

TEST_F(ArchiveTest, RefusesTensorsThatDoNotFitTheirRecord) {
  const std::string begin = "record data.pkl: \"t\": ";
  EXPECT_EQ(pickle_error(tensor_pickle("K\x11", "K\x00K\x10\x85K\x01\x85"s)),
            begin + "claims 17 elements of float32, but its record has 64 bytes");
  EXPECT_EQ(pickle_error(tensor_pickle("K\x10", "K\x11K\x01\x85K\x01\x85"s)),
            begin + "is a tensor that starts beyond the end of its record");
  EXPECT_EQ(pickle_error(tensor_pickle("K\x10", "K\x01K\x10\x85K\x01\x85"s)),
            begin + "is a tensor that extends beyond the end of its record");
  EXPECT_EQ(pickle_error(tensor_pickle("K\x10", "K\x10)\x29"s)),
            begin + "is a tensor that extends beyond the end of its record");
  EXPECT_EQ(pickle_error(tensor_pickle("K\x10", "K\x00K\x02K\x02\x86K\x01\x85"s)),
            begin + "is a tensor with the wrong number of strides");
  EXPECT_EQ(pickle_error(tensor_pickle("K\x10", "K\x00J\xFF\xFF\xFF\xFF\x85K\x01\x85"s)),
            begin + "is a tensor whose size is not a number >= 0");
  EXPECT_EQ(pickle_error(tensor_pickle("K\x10", "K\x00NK\x01\x85"s)),
            begin + "is a tensor whose shape is not a tuple of at most 64 sizes");
}

TEST_F(ArchiveTest, RefusesShapesWhoseProductOverflows) {
  const std::string huge = "\x8A\x06\0\0\0\0\0\x01"s;  // 2^40
  EXPECT_EQ(pickle_error(tensor_pickle("K\x10", "K\x00"s + huge + huge + "\x86K\x00K\x00\x86"s)),
            "record data.pkl: \"t\": is a tensor with too many elements");
  EXPECT_EQ(pickle_error(tensor_pickle("K\x10", "K\x00K\x02\x85"s + huge + "\x85")),
            "record data.pkl: \"t\": is a tensor that extends beyond the end of its record");
}

TEST_F(ArchiveTest, RefusesAnExpandedTensorThatIsFarLargerThanItsFile) {
  const std::string huge = "\x8A\x06\0\0\0\0\0\x01"s;
  EXPECT_EQ(pickle_error(tensor_pickle("K\x10", "K\x00"s + huge + "\x85K\x00\x85"s)),
            "record data.pkl: \"t\": is a view that is far larger than the file; save it with "
            ".clone()");
}

// Changed bytes, cuts and moved blocks: see run/checkpoint/damage_test.cpp.
class DamageTest : public ArchiveTest {
 protected:
  DamageTest() {
    save(path(), everything_);
    original_ = test::read_file(path());
  }

  // A new file each time: file systems flush one that was cut to nothing and written again.
  Dict load_bytes(const std::string& bytes) const {
    fs::remove(path("damaged.pt"));
    return load(folder_.write("damaged.pt", bytes));
  }

  // Whether `bytes` are refused; if not, they have to mean the same as the original.
  bool is_refused(const std::string& bytes) {
    try {
      const Dict loaded = load_bytes(bytes);
      EXPECT_TRUE(same(loaded, everything_));
      return false;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kCheckpoint) << error.what();
      return true;
    }
  }

  const Dict everything_ = everything();
  std::string original_;
};

TEST_F(DamageTest, IsNoticedWhenBytesAreLostOrAdded) {
  for (std::size_t i = 0; i < original_.size(); i += 7) {
    EXPECT_TRUE(is_refused(original_.substr(0, i) + original_.substr(i + 1))) << i;
    EXPECT_TRUE(is_refused(original_.substr(0, i) + '\0' + original_.substr(i))) << i;
  }
}

// With a right CRC-32, as an attacker would write it, the pickle has to hold out by itself.
TEST_F(DamageTest, OfThePickleNeverDoesMoreThanThrow) {
  const std::size_t start = 64;
  const std::size_t size = write_pickle(everything_).bytes.size();
  const std::size_t local_crc = 14;
  const std::size_t central_crc = original_.find("PK\x01\x02") + 16;
  for (std::size_t i = start; i < start + size; ++i) {
    for (const char byte : "\x00\x01\xFF.(0\x85\x61RQh"s) {
      std::string bytes = original_;
      bytes[i] = byte;
      const uint32_t crc = crc32(std::as_bytes(std::span(bytes.data() + start, size)));
      std::memcpy(bytes.data() + local_crc, &crc, sizeof(crc));
      std::memcpy(bytes.data() + central_crc, &crc, sizeof(crc));
      try {
        load_bytes(bytes);
      } catch (const Error& error) {
        ASSERT_EQ(error.kind(), ErrorKind::kCheckpoint) << error.what();
      }
    }
  }
}

// Needs a Python with PyTorch; TRAINER_PYTHON names another one.
class PythonTest : public ArchiveTest {
 protected:
  void SetUp() override {
    const std::string missing = test::missing_for(kScript);
    if (!missing.empty()) GTEST_SKIP() << missing;
  }

  // As save() would write it if 32-bit numbers ended at `zip64_from`. The last record is large.
  void write_with_64_bit_fields(uint64_t zip64_from) const {
    const Dict root = everything();
    const Pickle pickle = write_pickle(root);
    AtomicFile file(path());
    ZipWriter zip(file, zip64_from);
    zip.add("archive/data.pkl", std::as_bytes(std::span(pickle.bytes)));
    for (std::size_t i = 0; i < pickle.tensors.size(); ++i) {
      const TensorData& tensor = *pickle.tensors[i];
      zip.add(fmt::format("archive/data/{}", i), {tensor.data, tensor.num_bytes()});
    }
    zip.add("archive/version", std::as_bytes(std::span("3\n", 2)));
    zip.add("archive/large", std::vector<std::byte>(60000));
    zip.finish();
    file.commit();
  }

  static void run(const std::string& arguments) {
    const test::ProcessResult result = test::run_process(test::python_script(kScript) + arguments);
    EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  }

  static constexpr const char* kScript = "base/archive/python_interoperation.py";
};

TEST_F(PythonTest, OpensAnArchive) {
  save(path(), everything());
  run("check " + path().string());
}

TEST_F(PythonTest, OpensAnArchiveWithItsRestrictedReader) {
  save(path(), {{"tensors", *find(everything(), "tensors")}, {"step", 70000}, {"name", "mlp"}});
  run("restricted " + path().string());
}

TEST_F(PythonTest, OpensAnArchiveWith64BitFields) {
  write_with_64_bit_fields(60000);
  run("check " + path().string());
  EXPECT_TRUE(same(load(path()), everything()));
}

// PyTorch reads 64-bit offsets in files beyond 4 GiB only, Python's own reader in all.
TEST_F(PythonTest, UnzipsAnArchiveWith64BitOffsets) {
  write_with_64_bit_fields(6);
  run("unzip " + path().string());
  EXPECT_TRUE(same(load(path()), everything()));
}

TEST_F(PythonTest, WritesAnArchiveThatIsRead) {
  run("write " + path().string());
  const TensorData matrix = counting_tensor(DType::kFloat32);
  const auto floats = [](std::vector<int64_t> shape, const std::vector<float>& elements) {
    return make_tensor<float>(DType::kFloat32, std::move(shape), elements);
  };
  Dict dtypes;
  for (const DType dtype : kAllDTypes)
    dtypes.emplace_back(dtype_name(dtype), counting_tensor(dtype));
  const int64_t two_31 = int64_t{1} << 31;
  const Dict expected = {
      {"none", {}},
      {"flags", List{true, false}},
      {"integers", List{0, 255, 65535, 65536, -1, two_31, std::numeric_limits<int64_t>::max(),
                        std::numeric_limits<int64_t>::min()}},
      {"floats", List{0.1, -std::numeric_limits<double>::infinity()}},
      {"text", "h\xC3\xA9 \xE2\x82\xAC"},
      {"tuples", List{List{}, List{1}, List{1, 2}, List{1, 2, 3}, List{1, 2, 3, 4}}},
      {"ordered", Dict{{"b", 1}, {"a", 2}}},
      {"shared", List{List{1, 2}, List{1, 2}}},
      {"model", Dict{{"weight", matrix}, {"bias", floats({2}, {6, 7})}}},
      {"parameter", floats({2}, {6, 7})},
      {"dtypes", dtypes},
      {"scalar", floats({}, {1.5F})},
      {"empty", floats({0, 3}, {})},
      {"transposed", floats({3, 2}, {0, 3, 1, 4, 2, 5})},
      {"slice", floats({2, 2}, {1, 2, 4, 5})},
      {"row", floats({3}, {3, 4, 5})},
      {"expanded", floats({2, 3}, {7, 7, 7, 7, 7, 7})},
  };
  const Dict loaded = load(path());
  for (const auto& [key, value] : expected) {
    const Value* got = find(loaded, key);
    ASSERT_NE(got, nullptr) << key;
    EXPECT_TRUE(same(*got, value)) << key;
  }
  EXPECT_EQ(loaded.size(), expected.size());
}

}  // namespace
}  // namespace trainer::archive
