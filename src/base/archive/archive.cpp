// SPDX-License-Identifier: Apache-2.0
#include "trainer/base/archive/archive.h"

#include <algorithm>
#include <cstddef>
#include <string_view>

#include <fmt/format.h>

#include "trainer/base/error.h"
#include "trainer/base/io/atomic_file.h"
#include "trainer/base/text/format.h"

#include "base/archive/file_buffer.h"
#include "base/archive/pickle.h"
#include "base/archive/value_builder.h"
#include "base/archive/zip.h"

namespace trainer::archive {
namespace {

namespace fs = std::filesystem;

// The stem is a constant, so that equal values give equal bytes. torch.save uses the file name
// instead.
constexpr std::string_view kStem = "archive";

std::span<const std::byte> as_bytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

void write_records(AtomicFile& file, const Pickle& pickle) {
  ZipWriter zip(file);
  zip.add(fmt::format("{}/data.pkl", kStem), as_bytes(pickle.bytes));
  zip.add(fmt::format("{}/byteorder", kStem), as_bytes("little"));
  for (std::size_t i = 0; i < pickle.tensors.size(); ++i) {
    const TensorData& tensor = *pickle.tensors[i];
    zip.add(fmt::format("{}/data/{}", kStem, i), {tensor.data, tensor.num_bytes()});
  }
  zip.add(fmt::format("{}/version", kStem), as_bytes("3\n"));
  zip.finish();
}

[[noreturn]] void fail_on_export(const std::string& path, const char* format) {
  fail(path, fmt::format("is an export ({}), not a checkpoint; give the run or the checkpoint that "
                         "it was exported from",
                         format));
}

// Recognizes TorchScript files by the names of their records, which are at the end of the file.
void refuse_torchscript(const FileBuffer& file, const std::string& path) {
  constexpr std::size_t kEnd = std::size_t{1} << 16U;
  const std::string_view bytes(reinterpret_cast<const char*>(file.data.get()), file.size);
  const std::string_view end = bytes.substr(bytes.size() - std::min(kEnd, bytes.size()));
  if (end.find("/constants.pkl") != std::string_view::npos) fail_on_export(path, "TorchScript");
}

void check_zip_begin(std::string_view begin, uint64_t /*file_size*/, const std::string& path) {
  constexpr std::string_view kZipBegin = "PK\x03\x04";
  constexpr std::string_view kLegacyBegin =
      "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19";
  if (begin.starts_with(kLegacyBegin)) {
    fail(path,
         "is in the format that torch.save used before PyTorch 1.6; load it in Python and save it "
         "again with torch.save");
  }
  // An ONNX file begins with ir_version and, if it is an export of the trainer, producer_name. A
  // safetensors file begins with the length of the header and the header in JSON.
  if (begin.size() > 8 && begin[0] == '\x08' && begin[2] == '\x12') fail_on_export(path, "ONNX");
  if (begin.size() > 8 && begin[8] == '{') fail_on_export(path, "safetensors");
  if (!begin.starts_with(kZipBegin)) {
    fail(path,
         fmt::format("expected a zip file as written by torch.save, got a file that starts with {}",
                     in_quotes(begin)));
  }
}

// Returns the root folder that all records of the zip file share.
std::string find_stem(const ZipRecords& records, const std::string& path) {
  constexpr std::string_view kSuffix = "/data.pkl";
  for (const auto& [name, bytes] : records) {
    if (name.ends_with(kSuffix)) return std::string(name.substr(0, name.size() - kSuffix.size()));
  }
  fail(path, "is a zip file, but not written by torch.save: it has no record data.pkl");
}

void check_byte_order(const ZipRecords& records, const std::string& stem, const std::string& path) {
  const auto found = records.find(stem + "/byteorder");
  if (found != records.end() && as_text(found->second) != "little") {
    fail(path,
         fmt::format("expected byte order \"little\", got {}", in_quotes(as_text(found->second))));
  }
}

}  // namespace

void save(const fs::path& path, const Dict& root) {
  Pickle pickle;
  try {
    pickle = write_pickle(root);
  } catch (const Error& error) {
    throw Error(error.kind(), fmt::format("cannot write {}: {}", path.string(), error.what()));
  }
  AtomicFile file(path);
  write_records(file, pickle);
  file.commit();
}

Dict load(const fs::path& path) {
  const std::string name = path.string();
  const FileBuffer file = read_file(name, check_zip_begin);
  refuse_torchscript(file, name);
  const ZipRecords records = read_zip({file.data.get(), file.size}, name);
  const std::string stem = find_stem(records, name);
  check_byte_order(records, stem, name);
  return build_values(file, records, stem, name + ": record data.pkl");
}

}  // namespace trainer::archive
