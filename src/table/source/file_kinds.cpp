// SPDX-License-Identifier: Apache-2.0
#include "table/source/file_kinds.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <string_view>

#include <fmt/format.h>

#include "trainer/base/text/parse.h"

#include "table/error.h"

namespace trainer::data {
namespace {

struct FileKind {
  std::string_view begin;
  std::string_view what;
  std::string_view fix;
};

constexpr std::string_view kSaveAsCsv =
    "save the sheet as CSV (in Excel: File, Save As, CSV UTF-8)";
constexpr std::string_view kUnpack = "unpack it first, or pack the table with gzip or zstd";
constexpr std::string_view kToParquet =
    "write the table as Parquet, in Python with pandas: DataFrame.to_parquet";

// https://en.wikipedia.org/wiki/List_of_file_signatures
constexpr std::array kOtherKinds = {
    FileKind{"PK\x03\x04", "a ZIP archive, as workbooks of Excel (.xlsx) are",
             "save a sheet as CSV (in Excel: File, Save As, CSV UTF-8), or unpack the archive"},
    FileKind{"PK\x05\x06", "an empty ZIP archive", "download or copy it again"},
    FileKind{"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1", "a workbook of Excel (.xls)", kSaveAsCsv},
    FileKind{"BZh91AY&SY", "packed with bzip2", kUnpack},
    FileKind{"\xFD\x37zXZ", "packed with xz", kUnpack},
    FileKind{"7z\xBC\xAF\x27\x1C", "a 7-Zip archive", kUnpack},
    FileKind{"Rar!\x1A\x07", "a RAR archive", kUnpack},
    FileKind{"\x04\x22\x4D\x18", "packed with LZ4", kUnpack},
    FileKind{"\x1F\x9D", "packed with compress", kUnpack},
    FileKind{"version https://", "a pointer of Git LFS, not the file itself",
             "fetch the file with: git lfs pull"},
    FileKind{"ARROW1", "an Arrow file",
             "write the table as Parquet, in Python with "
             "pandas.read_feather(...).to_parquet(...)"},
    FileKind{"\x89HDF\r\n", "an HDF5 file", kToParquet},
    FileKind{"Obj\x01", "an Avro file", kToParquet},
    FileKind{"PAR1", "a Parquet file", "give it a name that ends in .parquet"},
    FileKind{"\x93NUMPY", "an array of NumPy", "set data.source: npy, with data.npy.features"},
    FileKind{"\x80\x04\x95", "a pickle of Python", kToParquet},
    FileKind{"\x80\x05\x95", "a pickle of Python", kToParquet},
    FileKind{"%PDF-", "a PDF document", "save the table as CSV"},
    FileKind{"<!doctype html", "a page of the web (HTML), not a table",
             "download the file itself, not the page that shows it"},
    FileKind{"<html", "a page of the web (HTML), not a table",
             "download the file itself, not the page that shows it"},
    FileKind{"<?xml", "an XML document", "save the table as CSV"},
};

}  // namespace

void require_no_other_kind(const std::string& name, std::span<const std::byte> first) {
  std::string begin;
  for (const std::byte byte : first.first(std::min(first.size(), kKindBytes))) {
    begin += static_cast<char>(byte);
  }
  if (begin.starts_with("\xEF\xBB\xBF")) begin.erase(0, 3);
  begin.erase(0, begin.find_first_not_of(" \t\r\n"));
  if (begin.starts_with("BZh") && begin.size() > 3) begin[3] = '9';  // any size of its blocks
  const std::string small = lower_case(begin);
  for (const FileKind& kind : kOtherKinds) {
    if (!(kind.begin.front() == '<' ? small : begin).starts_with(kind.begin)) continue;
    throw data_error(name, fmt::format("this is {}; {}", kind.what, kind.fix));
  }
}

void require_no_other_kind(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::array<char, kKindBytes> first{};
  file.read(first.data(), static_cast<std::streamsize>(first.size()));
  const auto num_read = static_cast<size_t>(file.gcount());
  if (std::string_view(first.data(), num_read).starts_with("PAR1")) return;
  require_no_other_kind(path.string(), std::as_bytes(std::span(first).first(num_read)));
}

}  // namespace trainer::data
