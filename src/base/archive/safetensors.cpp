// SPDX-License-Identifier: Apache-2.0
#include "trainer/base/archive/safetensors.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <span>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "trainer/base/error.h"
#include "trainer/base/io/atomic_file.h"
#include "trainer/base/text/format.h"
#include "trainer/base/text/parse.h"

#include "base/archive/file_buffer.h"
#include "base/archive/safetensors_header.h"
#include "base/archive/zip.h"

namespace trainer::archive {
namespace {

namespace fs = std::filesystem;

// The limit of the reference implementation, which is enough for a million tensors.
constexpr uint64_t kMaxHeaderBytes = 100'000'000;

// Whether a file of `file_size` bytes that begins with `begin` can be a safetensors file.
bool is_plausible(std::string_view begin, uint64_t file_size) {
  if (begin.size() <= kLengthBytes || begin[kLengthBytes] != '{') return false;
  const uint64_t length = header_length(std::as_bytes(std::span(begin)));
  return length <= std::min(kMaxHeaderBytes, file_size - kLengthBytes);
}

void check_safetensors_begin(std::string_view begin, uint64_t file_size, const std::string& path) {
  if (is_plausible(begin, file_size)) return;
  if (begin.size() <= kLengthBytes) {
    fail(path, fmt::format("expected a safetensors file, got {} bytes; the file was not written or "
                           "copied completely",
                           file_size));
  }
  if (begin[kLengthBytes] != '{') {
    fail(path, fmt::format("expected a safetensors file, got a file that starts with {}; save it "
                           "with safetensors.torch.save_file",
                           in_quotes(begin)));
  }
  fail(
      path,
      fmt::format(
          "header length {}, expected at most {}; the file is damaged or was not copied completely",
          header_length(std::as_bytes(std::span(begin))),
          std::min(kMaxHeaderBytes, file_size - kLengthBytes)));
}

std::vector<const Named*> file_order(const Safetensors& content) {
  std::vector<const Named*> order;
  order.reserve(content.tensors.size());
  for (const Named& named : content.tensors) order.push_back(&named);
  std::stable_sort(order.begin(), order.end(), [](const Named* a, const Named* b) {
    return element_size(a->second.dtype) > element_size(b->second.dtype);
  });
  return order;
}

bool continues_with(std::ifstream& stream, std::span<const std::byte> expected) {
  std::vector<char> chunk(std::size_t{1} << 20);
  while (!expected.empty()) {
    const std::size_t size = std::min(chunk.size(), expected.size());
    if (!stream.read(chunk.data(), static_cast<std::streamsize>(size)) ||
        std::memcmp(chunk.data(), expected.data(), size) != 0) {
      return false;
    }
    expected = expected.subspan(size);
  }
  return true;
}

// Reads the written file back and compares it with the content, before it is renamed to `path`.
void check_written(const fs::path& written, std::string_view begin,
                   const std::vector<const Named*>& order, const fs::path& path) {
  read_safetensors(written);
  std::ifstream stream(written, std::ios::binary);
  const bool is_same =
      continues_with(stream, std::as_bytes(std::span(begin))) &&
      std::all_of(order.begin(), order.end(), [&](const Named* named) {
        return continues_with(stream, {named->second.data, named->second.num_bytes()});
      });
  if (is_same) return;
  throw Error(
      ErrorKind::kFileSystem,
      fmt::format(
          "{}: the file read back differs from what was written; check the disk or its file system",
          path.string()));
}

}  // namespace

bool is_safetensors(const fs::path& path) {
  if (lower_case(path.extension().string()) == ".safetensors") return true;
  std::array<char, kLengthBytes + 1> begin{};
  std::ifstream stream(path, std::ios::binary);
  std::error_code unknown;
  const std::uintmax_t size = fs::file_size(path, unknown);
  return !unknown && stream.read(begin.data(), begin.size()) &&
         is_plausible({begin.data(), begin.size()}, size);
}

Safetensors read_safetensors(const fs::path& path) {
  const std::string name = path.string();
  const FileBuffer file = read_file(name, check_safetensors_begin);
  return parse_safetensors(file, name);
}

void write_safetensors(const fs::path& path, const Safetensors& content) {
  const std::vector<const Named*> order = file_order(content);
  std::string header = make_header(content, order);
  header.append(
      (kRecordAlignment - (kLengthBytes + header.size()) % kRecordAlignment) % kRecordAlignment,
      ' ');
  const uint64_t length = header.size();
  std::string begin(kLengthBytes, '\0');
  std::memcpy(begin.data(), &length, kLengthBytes);
  begin += header;
  AtomicFile file(path);
  file.write(begin);
  for (const Named* named : order) {
    file.write(std::span(named->second.data, named->second.num_bytes()));
  }
  check_written(file.flushed(), begin, order, path);
  file.commit();
}

}  // namespace trainer::archive
