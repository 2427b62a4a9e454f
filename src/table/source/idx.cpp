// SPDX-License-Identifier: Apache-2.0
#include "trainer/table/source/idx.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "trainer/base/text/format.h"

#include "table/error.h"

namespace trainer::data {
namespace {

constexpr size_t kMagicBytes = 4;
constexpr size_t kSizeBytes = 4;
constexpr uint8_t kUnsignedByte = 0x08;

[[noreturn]] void fail(const DataFile& file, const std::string& problem) {
  throw data_error(file.name(), problem);
}

size_t read(DataFile& file, std::span<uint8_t> bytes) {
  return file.read(std::as_writable_bytes(bytes));
}

std::string sizes_text(const std::vector<int64_t>& sizes) {
  std::string text;
  for (const int64_t size : sizes) {
    if (!text.empty()) text += " x ";
    text += with_thousands(size);
  }
  return text;
}

size_t read_num_dimensions(DataFile& file) {
  std::array<uint8_t, kMagicBytes> magic{};
  const size_t count = read(file, magic);
  if (count == 0) fail(file, "the file is empty");
  if (count < magic.size() || magic[0] != 0 || magic[1] != 0) {
    std::string bytes;
    for (size_t i = 0; i < count; ++i) bytes += fmt::format(" {:02x}", magic[i]);
    fail(file, "not an IDX file: expected the first bytes 00 00 08, got" + bytes);
  }
  if (magic[2] != kUnsignedByte) {
    fail(file,
         fmt::format(
             "element type 0x{:02x} is not supported; only unsigned bytes (0x08) are supported",
             magic[2]));
  }
  if (magic[3] == 0) fail(file, "expected at least one dimension, got 0");
  return magic[3];
}

std::vector<int64_t> read_sizes(DataFile& file) {
  std::vector<int64_t> sizes(read_num_dimensions(file));
  for (int64_t& size : sizes) {
    std::array<uint8_t, kSizeBytes> bytes{};
    if (read(file, bytes) < bytes.size())
      fail(file, "the file ends within its header; it is truncated");
    for (const uint8_t byte : bytes) size = size << 8 | byte;
  }
  return sizes;
}

/// The product of the sizes, or nothing when no memory could hold it.
std::optional<uint64_t> num_elements(const std::vector<int64_t>& sizes) {
  uint64_t product = 1;
  for (const int64_t size : sizes) {
    const auto factor = static_cast<uint64_t>(size);
    if (factor != 0 && product > std::numeric_limits<int64_t>::max() / factor) return std::nullopt;
    product *= factor;
  }
  return product;
}

Array<uint8_t> read_elements(DataFile& file, const std::vector<int64_t>& sizes) {
  const std::optional<uint64_t> expected = num_elements(sizes);
  if (!expected) fail(file, fmt::format("invalid sizes {}", sizes_text(sizes)));
  Array<uint8_t> elements;
  // What the content may well need, however much its header claims. Images shrink to a quarter or
  // so; what shrinks further is read all the same, only into memory that grows.
  constexpr uint64_t kGoodRatio = 10;
  elements.reserve(static_cast<size_t>(std::min(*expected, kGoodRatio * file.size_hint())));
  std::vector<uint8_t> chunk(size_t{1} << 20);
  while (const size_t count = read(file, chunk)) {
    if (elements.size() + count > *expected) {
      fail(file, fmt::format("trailing bytes after the {} elements of the header ({})",
                             with_thousands(static_cast<int64_t>(*expected)), sizes_text(sizes)));
    }
    elements.append(chunk.begin(), chunk.begin() + static_cast<std::ptrdiff_t>(count));
  }
  if (elements.size() < *expected) {
    fail(file, fmt::format("truncated: the header specifies {} elements ({}), the file has {}",
                           with_thousands(static_cast<int64_t>(*expected)), sizes_text(sizes),
                           with_thousands(static_cast<int64_t>(elements.size()))));
  }
  return elements;
}

void require_images_and_labels(const std::filesystem::path& images, const IdxFile& image_file,
                               const std::filesystem::path& labels, const IdxFile& label_file) {
  const size_t image_dimensions = image_file.sizes.size();
  const size_t label_dimensions = label_file.sizes.size();
  if (image_dimensions != 2 && image_dimensions != 3) {
    const bool swapped = image_dimensions == 1 && label_dimensions > 1;
    throw data_error(images.string(),
                     fmt::format("expected images in 2 or 3 dimensions, got {}{}", image_dimensions,
                                 swapped ? "; check that images and labels are not swapped" : ""));
  }
  if (label_dimensions != 1) {
    throw data_error(labels.string(),
                     fmt::format("expected labels in 1 dimension, got {}", label_dimensions));
  }
  if (image_file.bytes.empty()) {
    throw data_error(images.string(),
                     fmt::format("no images: the sizes are {}", sizes_text(image_file.sizes)));
  }
  if (image_file.sizes[0] != label_file.sizes[0]) {
    throw data_error(
        labels.string(),
        fmt::format("{} labels, but {} images in {}", with_thousands(label_file.sizes[0]),
                    with_thousands(image_file.sizes[0]), images.string()));
  }
}

std::vector<std::string> pixel_names(const std::vector<int64_t>& sizes) {
  std::vector<std::string> names;
  const bool flat = sizes.size() == 2;
  const int64_t height = flat ? 1 : sizes[1];
  const int64_t width = sizes.back();
  names.reserve(static_cast<size_t>(height * width));
  for (int64_t row = 0; row < height; ++row) {
    for (int64_t column = 0; column < width; ++column) {
      names.push_back(flat ? fmt::format("pixel_{}", column)
                           : fmt::format("pixel_{}_{}", row, column));
    }
  }
  return names;
}

}  // namespace

IdxFile read_idx(const std::filesystem::path& path) { return read_idx(DataFile(path)); }

IdxFile read_idx(DataFile file) {
  IdxFile content;
  content.sizes = read_sizes(file);
  content.bytes = read_elements(file, content.sizes);
  content.fingerprint = file.fingerprint();
  return content;
}

Table read_idx_pair(const std::filesystem::path& images, const std::filesystem::path& labels) {
  IdxFile image_file = read_idx(images);
  const IdxFile label_file = read_idx(labels);
  require_images_and_labels(images, image_file, labels, label_file);

  Table table;
  table.file = labels.string();
  table.feature_names = pixel_names(image_file.sizes);
  table.features = {.num_rows = image_file.sizes[0],
                    .num_columns = static_cast<int64_t>(table.feature_names.size()),
                    .values = std::move(image_file.bytes)};
  table.target_names = {"label"};
  table.targets.reserve(label_file.bytes.size());
  for (const uint8_t label : label_file.bytes) table.targets.push_back(std::to_string(label));
  table.fingerprints = {std::move(image_file.fingerprint), label_file.fingerprint};
  return table;
}

}  // namespace trainer::data
