// SPDX-License-Identifier: Apache-2.0
#include "trainer/base/archive/safetensors.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "trainer/base/error.h"

#include "support/checkpoints.h"
#include "support/error_of.h"
#include "support/file_size_limit.h"
#include "support/files.h"
#include "support/temporary_folder.h"

namespace trainer::archive {
namespace {

namespace fs = std::filesystem;
using test::error_of;
using test::float_data;
using Names = std::vector<std::string>;

std::string with_length(const std::string& header, const std::string& data = "") {
  const uint64_t length = header.size();
  std::string bytes(sizeof length, '\0');
  std::memcpy(bytes.data(), &length, sizeof length);
  return bytes + header + data;
}

std::string bytes_of(const TensorData& tensor) {
  return {reinterpret_cast<const char*>(tensor.data), tensor.num_bytes()};
}

Safetensors example() {
  Safetensors content;
  content.tensors = {{"layers.0.weight", float_data({2, 3}, {1, 2, 3, 4, 5, 6})},
                     {"layers.0.bias", float_data({2}, {-1, 0.5F})},
                     {"nothing", float_data({0, 3}, {})},
                     {"na\xC3\xAFve \"one\"", float_data({}, {7})}};
  content.metadata = {{"format", "pt"}, {"labels", "[\"a\",\"b\"]"}};
  return content;
}

class SafetensorsTest : public testing::Test {
 protected:
  std::string message_of(const std::string& bytes) const {
    const fs::path path = folder_.write("damaged.safetensors", bytes);
    return test::after(path.string() + ": ",
                       test::message_of(ErrorKind::kCheckpoint, [&] { read_safetensors(path); }));
  }

  test::TemporaryFolder folder_;
  fs::path path_ = folder_.path() / "model.safetensors";
};

TEST_F(SafetensorsTest, WhatWasWrittenIsRead) {
  write_safetensors(path_, example());
  const Safetensors again = read_safetensors(path_);
  EXPECT_EQ(again.metadata, example().metadata);
  ASSERT_EQ(again.tensors.size(), 4U);
  for (const auto& expected : example().tensors) {
    const auto found =
        std::find_if(again.tensors.begin(), again.tensors.end(),
                     [&](const auto& entry) { return entry.first == expected.first; });
    ASSERT_NE(found, again.tensors.end()) << expected.first;
    EXPECT_EQ(type_text(found->second), type_text(expected.second));
    EXPECT_EQ(bytes_of(found->second), bytes_of(expected.second));
  }
}

TEST_F(SafetensorsTest, TheFileIsAsTheFormatSays) {
  Safetensors content;
  content.tensors = {{"half", {DType::kFloat16, {1}, nullptr, nullptr}},
                     {"w", float_data({1, 2}, {1, 2})}};
  const std::string half = "hf";
  content.tensors[0].second.data = reinterpret_cast<const std::byte*>(half.data());
  content.metadata = {{"format", "pt"}};
  write_safetensors(path_, content);
  const std::string bytes = test::read_file(path_);
  std::string header =
      R"({"__metadata__":{"format":"pt"},"w":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]},)"
      R"("half":{"dtype":"F16","shape":[1],"data_offsets":[8,10]}})";
  header.append(192 - 8 - header.size(), ' ');
  EXPECT_EQ(bytes, with_length(header, bytes_of(content.tensors[1].second) + half));
}

TEST_F(SafetensorsTest, EqualValuesGiveEqualBytesAndReplaceAnOlderFile) {
  write_safetensors(folder_.path() / "other", example());
  folder_.write("model.safetensors", "old");
  write_safetensors(path_, example());
  EXPECT_EQ(test::read_file(path_), test::read_file(folder_.path() / "other"));
}

TEST_F(SafetensorsTest, EveryTypeOfThePytorchFormatIsRead) {
  for (const auto& [name, dtype] :
       std::vector<std::pair<std::string, DType>>{{"F64", DType::kFloat64},
                                                  {"F32", DType::kFloat32},
                                                  {"F16", DType::kFloat16},
                                                  {"BF16", DType::kBFloat16},
                                                  {"I64", DType::kInt64},
                                                  {"I32", DType::kInt32},
                                                  {"I16", DType::kInt16},
                                                  {"I8", DType::kInt8},
                                                  {"U8", DType::kUInt8},
                                                  {"BOOL", DType::kBool}}) {
    const std::size_t size = element_size(dtype);
    folder_.write("model.safetensors",
                  with_length(fmt::format(R"({{"t":{{"dtype":"{}","shape":[2],"data_offsets":)"
                                          R"([0,{}]}}}})",
                                          name, 2 * size),
                              std::string(2 * size, 'x')));
    EXPECT_EQ(read_safetensors(path_).tensors.at(0).second.dtype, dtype);
  }
}

TEST_F(SafetensorsTest, AreToldFromOtherFilesByTheirContentOrTheirName) {
  write_safetensors(folder_.path() / "model.bin", example());
  EXPECT_TRUE(is_safetensors(folder_.path() / "model.bin"));
  EXPECT_TRUE(is_safetensors(folder_.write("x.SafeTensors", "anything")));
  EXPECT_FALSE(is_safetensors(folder_.write("zip.pt", "PK\x03\x04{{{{{{{{{{{{{")));
  EXPECT_FALSE(is_safetensors(folder_.write("short.pt", "abc")));
  EXPECT_FALSE(is_safetensors(folder_.path() / "none.pt"));
  EXPECT_FALSE(is_safetensors(folder_.path()));
}

TEST_F(SafetensorsTest, WhatIsNoSuchFileIsRefused) {
  EXPECT_EQ(message_of(""), "is empty: it was not written completely; use an older checkpoint");
  EXPECT_EQ(
      message_of("abc"),
      "expected a safetensors file, got 3 bytes; the file was not written or copied completely");
  EXPECT_EQ(message_of("PK\x03\x04 a zip file"),
            "expected a safetensors file, got a file that starts with \"PK\\x03\\x04 a zip file\"; "
            "save it with safetensors.torch.save_file");
  EXPECT_EQ(
      message_of(with_length("{}").substr(0, 9)),
      "header length 2, expected at most 1; the file is damaged or was not copied completely");
  EXPECT_EQ(message_of("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x7F{}"),
            "header length 9223372036854775807, expected at most 2; the file is damaged or was not "
            "copied completely");
}

TEST_F(SafetensorsTest, AHeaderThatIsWrongIsRefused) {
  const auto message = [&](const std::string& header, const std::string& data = "12345678") {
    return message_of(with_length(header, data));
  };
  EXPECT_NE(message("{\"a\":").find("the header cannot be read ("), std::string::npos);
  EXPECT_EQ(message(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
                    R"("a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})"),
            "duplicate key \"a\" in the header");
  EXPECT_EQ(message(R"({"a":{"dtype":"F32","shape":[1],"shape":[2],"data_offsets":[0,8]}})"),
            "duplicate key \"shape\" in the header");
  EXPECT_EQ(message(R"({"__metadata__":[]})"),
            "__metadata__: expected an object of strings, got array");
  EXPECT_EQ(message(R"({"__metadata__":{"epoch":3}})"),
            "__metadata__: \"epoch\": expected a string, got number");
  EXPECT_EQ(message(R"({"a":3})"),
            "tensor \"a\": expected dtype, shape and data_offsets, got number");
  EXPECT_EQ(message(R"({"a":{"dtype":"F32","data_offsets":[0,8]}})"),
            "tensor \"a\": shape is missing");
  EXPECT_EQ(message(R"({"a":{"dtype":"F8_E4M3","shape":[8],"data_offsets":[0,8]}})"),
            "tensor \"a\": expected one of the dtypes F32, F64, F16, BF16, I64, I32, I16, I8, U8 "
            "or BOOL, got \"F8_E4M3\"; convert the tensor to F32");
  EXPECT_EQ(message(R"({"a":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}})"),
            "tensor \"a\": expected a shape of integers, got \"[-2]\"");
}

TEST_F(SafetensorsTest, SizesAndPlacesThatCannotBeAreRefused) {
  const auto message = [&](const std::string& shape, const std::string& offsets,
                           const std::string& more = "") {
    return message_of(with_length(fmt::format(R"({{"a":{{"dtype":"F32","shape":{},)"
                                              R"("data_offsets":{}}}{}}})",
                                              shape, offsets, more),
                                  "12345678"));
  };
  const std::string not_within =
      "tensor \"a\": expected data_offsets within the 8 bytes after the header, got \"";
  const std::string damaged = "\"; the file is damaged or was not copied completely";
  for (const char* offsets :
       {"[0,12]", "[8,0]", "[0]", "[0,8.0]", "[-4,4]", "8", "[0,18446744073709551615]"}) {
    EXPECT_EQ(message("[2]", offsets), not_within + offsets + damaged);
  }
  const std::string largest = "9223372036854775807";
  EXPECT_EQ(message("[3]", "[0,8]"),
            "tensor \"a\": float32 [3] does not match the 8 bytes of its data_offsets");
  EXPECT_EQ(
      message("[" + largest + ",2]", "[0,8]"),
      "tensor \"a\": float32 [" + largest + ", 2] does not match the 8 bytes of its data_offsets");
  EXPECT_EQ(message("[4294967296,4294967296]", "[0,0]"),
            "tensor \"a\": float32 [4294967296, 4294967296] does not match the 0 bytes of its "
            "data_offsets");
  EXPECT_EQ(message("[1]", "[0,4]"),
            "the tensors end at 4, expected 8, the end of the file; the file has trailing bytes");
  const std::string rule = "; tensors must not overlap or leave gaps";
  EXPECT_EQ(message("[1]", "[4,8]"),
            "tensor \"a\": starts at 4, but the previous one ends at 0" + rule);
  EXPECT_EQ(message("[2]", "[0,8]", R"(,"b":{"dtype":"F32","shape":[1],"data_offsets":[4,8]})"),
            "tensor \"b\": starts at 4, but the previous one ends at 8" + rule);
}

TEST_F(SafetensorsTest, AFileThatWasCutAnywhereIsRefused) {
  write_safetensors(path_, example());
  const std::string bytes = test::read_file(path_);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_NE(message_of(bytes.substr(0, size)), "") << size;
  }
  EXPECT_NE(message_of(bytes + "x"), "");
}

// The format has no checksum: a change may give another name or number, but never a crash, a tensor
// outside the file, or another kind of error.
TEST_F(SafetensorsTest, ChangedBytesAreRefusedOrReadWithinTheFile) {
  write_safetensors(path_, example());
  const std::string original = test::read_file(path_);
  const std::size_t num_data_bytes = 9 * sizeof(float);
  std::size_t num_refused = 0;
  for (std::size_t i = 0; i < original.size() - num_data_bytes; ++i) {
    for (const unsigned mask : {1U << i % 8, 0xFFU}) {
      std::string bytes = original;
      bytes[i] = static_cast<char>(static_cast<unsigned char>(bytes[i]) ^ mask);
      fs::remove(path_);
      folder_.write("model.safetensors", bytes);
      try {
        std::string data;
        for (const auto& [name, tensor] : read_safetensors(path_).tensors) data += bytes_of(tensor);
        EXPECT_EQ(data, original.substr(original.size() - num_data_bytes)) << i;
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::kCheckpoint) << error.what();
        ++num_refused;
      }
    }
  }
  EXPECT_GT(num_refused, original.size());
}

TEST_F(SafetensorsTest, WhatCouldNotBeReadAgainIsNotWritten) {
  folder_.write("model.safetensors", "old");
  const auto refused = [&](const std::string& first, const std::string& second) {
    Safetensors content;
    content.tensors = {{first, float_data({1}, {1})}, {second, float_data({1}, {1})}};
    EXPECT_EQ(error_of([&] { write_safetensors(path_, content); }).kind(), ErrorKind::kRuntime);
  };
  refused("a", "a");
  refused("a", "__metadata__");
  refused("a", "\xFF");
  EXPECT_EQ(test::read_file(path_), "old");
}

TEST_F(SafetensorsTest, AFullDiskLeavesTheOldFileAndNothingElse) {
  folder_.write("model.safetensors", "old");
  {
    const test::FileSizeLimit limit(100);
    EXPECT_EQ(error_of([&] { write_safetensors(path_, example()); }).kind(),
              ErrorKind::kFileSystem);
  }
  EXPECT_EQ(test::read_file(path_), "old");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_.path()), {}), 1);
}

}  // namespace
}  // namespace trainer::archive
