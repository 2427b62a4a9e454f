// SPDX-License-Identifier: Apache-2.0
#include "trainer/data/npy.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <limits>
#include <span>
#include <stdexcept>
#include <string_view>
#include <type_traits>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "trainer/core/format.h"
#include "trainer/data/scaling.h"

#include "data/error.h"
#include "data/input_file.h"
#include "data/npy_header.h"
#include "data/offset.h"

namespace trainer::data {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

/// An IEEE number of 16 bits: 1 sign, 5 exponent, 10 fraction.
struct Half {
  uint16_t bits = 0;

  float value() const {
    constexpr int kBias = 15;
    constexpr int kFractionBits = 10;
    const int exponent = bits >> kFractionBits & 31;
    const auto fraction = static_cast<float>(bits & 1023) / 1024;
    float size = 0;
    if (exponent == 31) {
      size = fraction == 0 ? std::numeric_limits<float>::infinity()
                           : std::numeric_limits<float>::quiet_NaN();
    } else if (exponent == 0) {
      size = std::ldexp(fraction, 1 - kBias);
    } else {
      size = std::ldexp(1 + fraction, exponent - kBias);
    }
    return bits >> 15 == 0 ? size : -size;
  }
};

/// The element in the bytes at `from`.
template <class T>
T element_at(const std::byte* from, bool is_swapped) {
  std::array<std::byte, sizeof(T)> bytes{};
  std::memcpy(bytes.data(), from, sizeof(T));
  if (is_swapped) std::reverse(bytes.begin(), bytes.end());
  return std::bit_cast<T>(bytes);
}

/// Calls use(T()) with the type of the elements.
template <class Use>
void with_element_type(const NpyHeader& header, const Use& use) {
  const size_t bytes = header.bytes_per_element;
  if (header.kind == 'f') {
    if (bytes == 2) return use(Half());
    if (bytes == 4) return use(float());
    return use(double());
  }
  if (header.kind == 'i') {
    if (bytes == 1) return use(int8_t());
    if (bytes == 2) return use(int16_t());
    if (bytes == 4) return use(int32_t());
    return use(int64_t());
  }
  if (bytes == 1) return use(uint8_t());
  if (bytes == 2) return use(uint16_t());
  if (bytes == 4) return use(uint32_t());
  return use(uint64_t());
}

std::string shape_text(const std::vector<int64_t>& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

/// A file whose header fits its size.
class Reader {
 public:
  explicit Reader(const std::filesystem::path& path) : name_(path.string()), file_(path) {
    read_header();
    check_size();
  }

  const NpyHeader& header() const { return header_; }
  int64_t num_rows() const { return header_.shape.front(); }
  int64_t num_elements() const { return num_elements_; }

  /// Calls store(position, element) for each element: `position` in C order, with a Half as a
  /// float.
  template <class Store>
  void for_each(const Store& store) {
    with_element_type(header_, [&](auto type) { read_elements<decltype(type)>(store); });
  }

  Fingerprint fingerprint() { return file_.fingerprint(); }

  [[noreturn]] void fail(const std::string& problem) const { throw data_error(name_, problem); }

  [[noreturn]] void fail_at(int64_t position, double got) const {
    std::vector<int64_t> index = header_.shape;
    for (size_t i = index.size(); i-- > 0;) {
      index[i] = position % header_.shape[i];
      position /= header_.shape[i];
    }
    fail(
        fmt::format("element {}: expected a finite number that float32 can hold, got {}; correct "
                    "it or remove its row",
                    shape_text(index), got));
  }

 private:
  static constexpr size_t kChunkBytes = size_t{1} << 20;  // a multiple of every element

  size_t read(std::span<std::byte> bytes) {
    const size_t count = file_.read(bytes);
    num_read_ += count;
    return count;
  }

  void read_header() {
    std::array<std::byte, 8> start{};
    const size_t count = read(start);
    if (count == 0) fail("the file is empty");
    if (count < start.size() || std::memcmp(start.data(), kMagic.data(), kMagic.size()) != 0) {
      const bool is_zip = start[0] == std::byte{'P'} && start[1] == std::byte{'K'};
      fail(is_zip ? "is an archive of NumPy (.npz); write its array alone with numpy.save"
                  : "not a .npy file: it does not begin with 93 4e 55 4d 50 59 (\\x93NUMPY); write "
                    "it with numpy.save");
    }
    const auto version = std::to_integer<int>(start[6]);
    if (version < 1 || version > 3) {
      fail(fmt::format("expected format version 1, 2 or 3, got {}; write it again with numpy.save",
                       version));
    }
    std::array<std::byte, 4> size{};
    const auto size_bytes = std::span(size).first(version == 1 ? 2 : 4);
    if (read(size_bytes) < size_bytes.size()) fail("the file ends within its header");
    const auto length = element_at<uint32_t>(size.data(), std::endian::native == std::endian::big);
    if (length > file_.size_hint() - std::min(num_read_, file_.size_hint())) {
      fail("the file ends within its header; get it again");
    }
    std::string text(length, '\0');
    if (read(std::as_writable_bytes(std::span(text))) < text.size()) {
      fail("the file ends within its header; get it again");
    }
    try {
      header_ = parse_npy_header(text);
    } catch (const std::invalid_argument& problem) {
      fail(problem.what());
    }
  }

  void check_size() {
    if (header_.shape.empty()) fail("expected an array, got a single number");
    uint64_t product = 1;
    for (const int64_t size : header_.shape) {
      const auto factor = static_cast<uint64_t>(size);
      if (factor != 0 && product > std::numeric_limits<int64_t>::max() / (8 * factor)) {
        fail("impossible sizes " + shape_text(header_.shape));
      }
      product *= factor;
    }
    if (product == 0) fail("no elements: the shape is " + shape_text(header_.shape));
    num_elements_ = static_cast<int64_t>(product);
    const uint64_t expected = product * header_.bytes_per_element;
    const uint64_t got = file_.size_hint() - std::min(num_read_, file_.size_hint());
    if (got == expected) return;
    fail(fmt::format("expected {} bytes of elements (shape {}), got {}; {}",
                     with_thousands(static_cast<int64_t>(expected)), shape_text(header_.shape),
                     with_thousands(static_cast<int64_t>(got)),
                     got < expected ? "the file is cut off, get it again"
                                    : "write one array alone with numpy.save"));
  }

  /// Where the columns of a file in Fortran order lie in C order: there the first index is the
  /// fastest, here the last.
  std::vector<int64_t> columns_in_c_order() const {
    const std::vector<int64_t>& shape = header_.shape;
    std::vector<int64_t> columns(static_cast<size_t>(num_elements_ / num_rows()));
    for (size_t i = 0; i < columns.size(); ++i) {
      auto rest = static_cast<int64_t>(i);
      auto stride = static_cast<int64_t>(columns.size());
      for (size_t axis = 1; axis < shape.size(); ++axis) {
        stride /= shape[axis];
        columns[i] += rest % shape[axis] * stride;
        rest /= shape[axis];
      }
    }
    return columns;
  }

  template <class T, class Store>
  void read_elements(const Store& store) {
    const bool is_swapped = header_.is_big_endian != (std::endian::native == std::endian::big);
    const int64_t rows = num_rows();
    const int64_t width = num_elements_ / rows;
    const std::vector<int64_t> columns =
        header_.is_fortran_order ? columns_in_c_order() : std::vector<int64_t>();
    std::vector<std::byte> chunk(kChunkBytes);
    int64_t next = 0;
    while (next < num_elements_) {
      const size_t count = read(chunk) / sizeof(T);
      if (count == 0) fail("the file is cut off, get it again");
      for (size_t i = 0; i < count && next < num_elements_; ++i, ++next) {
        const T element = element_at<T>(chunk.data() + i * sizeof(T), is_swapped);
        const int64_t position =
            columns.empty() ? next
                            : next % rows * width + columns[static_cast<size_t>(next / rows)];
        if constexpr (std::is_same_v<T, Half>) {
          store(position, element.value());
        } else {
          store(position, element);
        }
      }
    }
  }

  std::string name_;
  InputFile file_;
  uint64_t num_read_ = 0;  // bytes
  NpyHeader header_;
  int64_t num_elements_ = 0;
};

// Elements of these types hold what float32 may not.
bool may_need_offsets(const NpyHeader& header) {
  const size_t bytes = header.bytes_per_element;
  return header.kind == 'f' ? bytes > sizeof(float) : bytes >= sizeof(float);
}

std::vector<double> choose_offsets(const std::filesystem::path& path) {
  constexpr int64_t kMaxOfAll = int64_t{1} << 20;
  constexpr int64_t kMinRows = 16;
  constexpr int64_t kMaxRows = 1024;
  Reader reader(path);
  if (!may_need_offsets(reader.header())) return {};
  const int64_t rows = reader.num_rows();
  const int64_t width = reader.num_elements() / rows;
  const int64_t step = (rows - 1) / std::clamp(kMaxOfAll / width, kMinRows, kMaxRows) + 1;
  std::vector<std::vector<double>> samples(static_cast<size_t>(width));
  reader.for_each([&](int64_t position, auto element) {
    if (position / width % step != 0) return;
    const auto value = static_cast<double>(element);
    if (std::isfinite(value)) samples[static_cast<size_t>(position % width)].push_back(value);
  });
  std::vector<double> offsets;
  offsets.reserve(samples.size());
  for (std::vector<double>& sample : samples) offsets.push_back(choose_offset(std::move(sample)));
  return offsets_or_none(std::move(offsets));
}

Matrix read_matrix(Reader& reader, const std::vector<double>& offsets) {
  const int64_t rows = reader.num_rows();
  Matrix matrix{rows, reader.num_elements() / rows, {}};
  const auto size = static_cast<size_t>(reader.num_elements());
  const bool is_bool = reader.header().kind == 'b';
  const bool is_byte = reader.header().kind == 'u' && reader.header().bytes_per_element == 1;
  if (offsets.empty() && (is_bool || is_byte)) {
    std::vector<uint8_t> bytes(size);
    reader.for_each([&](int64_t position, auto element) {
      const auto byte = static_cast<uint8_t>(element);
      bytes[static_cast<size_t>(position)] = is_bool ? static_cast<uint8_t>(byte != 0) : byte;
    });
    matrix.values = std::move(bytes);
    return matrix;
  }
  std::vector<float> values(size);
  reader.for_each([&](int64_t position, auto element) {
    const auto value =
        offsets.empty()
            ? static_cast<float>(element)
            : static_cast<float>(static_cast<double>(element) -
                                 offsets[static_cast<size_t>(position % matrix.num_columns)]);
    if (!std::isfinite(value)) reader.fail_at(position, static_cast<double>(element));
    values[static_cast<size_t>(position)] = value;
  });
  matrix.values = std::move(values);
  return matrix;
}

/// All digits of large integers, which may be the labels of classes.
std::vector<std::string> read_texts(Reader& reader) {
  std::vector<std::string> texts(static_cast<size_t>(reader.num_elements()));
  const bool is_bool = reader.header().kind == 'b';
  reader.for_each([&](int64_t position, auto element) {
    if (!std::isfinite(static_cast<float>(element))) {
      reader.fail_at(position, static_cast<double>(element));
    }
    std::string& text = texts[static_cast<size_t>(position)];
    if constexpr (std::is_floating_point_v<decltype(element)>) {
      text = fmt::format("{}", element);
    } else {
      text = is_bool ? std::to_string(element != 0 ? 1 : 0) : std::to_string(element);
    }
  });
  return texts;
}

std::vector<std::string> numbered(const char* name, int64_t count) {
  std::vector<std::string> names;
  names.reserve(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) names.push_back(fmt::format("{}{}", name, i));
  return names;
}

}  // namespace

NpyFile read_npy(const std::filesystem::path& path, const std::vector<double>* offsets) {
  Reader reader(path);
  NpyFile file;
  file.shape = reader.header().shape;
  file.offsets = offsets != nullptr ? *offsets : choose_offsets(path);
  const auto width = static_cast<size_t>(reader.num_elements() / reader.num_rows());
  if (file.offsets.size() != width) file.offsets.clear();  // another array: the caller will say so
  file.elements = read_matrix(reader, file.offsets);
  file.fingerprint = reader.fingerprint();
  return file;
}

bool is_npy(const std::filesystem::path& path) {
  if (!std::filesystem::is_regular_file(path)) return false;
  std::ifstream file(path, std::ios::binary);
  std::string begin(kMagic.size(), '\0');
  file.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  return file && begin == kMagic;
}

NpyFile read_npy_features(const std::filesystem::path& path, const std::vector<double>* offsets) {
  NpyFile file = read_npy(path, offsets);
  if (file.shape.size() >= 2) return file;
  throw data_error(path.string(),
                   fmt::format("expected features [n, features], got the shape {}; save "
                               "array.reshape(-1, 1) if it is one feature",
                               shape_text(file.shape)));
}

Table read_npy_pair(const std::filesystem::path& features, const std::filesystem::path& targets,
                    const std::vector<double>* offsets) {
  Reader reader(targets);
  const std::vector<int64_t>& shape = reader.header().shape;
  if (shape.size() > 2) {
    reader.fail(
        fmt::format("expected targets [n] or [n, targets], got the shape {}; are features "
                    "and targets swapped?",
                    shape_text(shape)));
  }
  NpyFile file = read_npy_features(features, offsets);
  if (file.shape[0] != reader.num_rows()) {
    reader.fail(fmt::format(
        "expected a target for each of the {} rows of {}, got {}; write both "
        "files from the same rows",
        with_thousands(file.shape[0]), features.string(), with_thousands(reader.num_rows())));
  }
  Table table;
  table.file = targets.string();
  table.feature_names = numbered("x", file.elements.num_columns);
  table.features = std::move(file.elements);
  table.offsets = std::move(file.offsets);
  const int64_t num_targets = reader.num_elements() / reader.num_rows();
  table.target_names =
      num_targets == 1 ? std::vector<std::string>{"y"} : numbered("y", num_targets);
  table.targets = read_texts(reader);
  table.fingerprints = {std::move(file.fingerprint), reader.fingerprint()};
  return table;
}

}  // namespace trainer::data
