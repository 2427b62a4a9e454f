// SPDX-License-Identifier: Apache-2.0
#include "trainer/table/source/npy.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "trainer/base/text/format.h"
#include "trainer/table/schema/scaling.h"

#include "table/error.h"
#include "table/source/npy_reader.h"
#include "table/source/table_sample.h"

namespace trainer::data {
namespace {

// Elements of these types hold what float32 may not.
bool may_need_offsets(const NpyHeader& header) {
  const size_t bytes = header.bytes_per_element;
  return header.kind == 'f' ? bytes > sizeof(float) : bytes >= sizeof(float);
}

std::vector<double> choose_offsets(const std::filesystem::path& path) {
  constexpr int64_t kMaxOfAll = int64_t{1} << 20;
  constexpr int64_t kMinRows = 16;
  constexpr int64_t kMaxRows = 1024;
  NpyReader reader(path);
  if (!may_need_offsets(reader.header())) return {};
  const int64_t rows = reader.num_rows();
  const int64_t width = reader.num_elements() / rows;
  const int64_t step = (rows - 1) / std::clamp(kMaxOfAll / width, kMinRows, kMaxRows) + 1;
  std::vector<Array<double>> samples(static_cast<size_t>(width));
  reader.for_each([&](int64_t position, auto element) {
    if (position / width % step != 0) return;
    const auto value = static_cast<double>(element);
    if (std::isfinite(value)) samples[static_cast<size_t>(position % width)].push_back(value);
  });
  std::vector<double> offsets;
  offsets.reserve(samples.size());
  for (Array<double>& sample : samples) offsets.push_back(choose_offset(std::move(sample)));
  return offsets_or_none(std::move(offsets));
}

Matrix read_matrix(NpyReader& reader, const std::vector<double>& offsets) {
  const int64_t rows = reader.num_rows();
  Matrix matrix{.num_rows = rows, .num_columns = reader.num_elements() / rows, .values = {}};
  const auto size = static_cast<size_t>(reader.num_elements());
  const bool is_bool = reader.header().kind == 'b';
  const bool is_byte = reader.header().kind == 'u' && reader.header().bytes_per_element == 1;
  if (offsets.empty() && (is_bool || is_byte)) {
    Array<uint8_t> bytes(size);
    reader.for_each([&](int64_t position, auto element) {
      const auto byte = static_cast<uint8_t>(element);
      bytes[static_cast<size_t>(position)] = is_bool ? static_cast<uint8_t>(byte != 0) : byte;
    });
    matrix.values = std::move(bytes);
    return matrix;
  }
  Array<float> values(size);
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
TargetCells read_targets(NpyReader& reader, bool expects_labels) {
  TargetCells targets;
  if (expects_labels) targets.expect_labels();
  targets.resize(static_cast<size_t>(reader.num_elements()));
  const bool is_bool = reader.header().kind == 'b';
  reader.for_each([&](int64_t position, auto element) {
    if (!std::isfinite(static_cast<float>(element))) {
      reader.fail_at(position, static_cast<double>(element));
    }
    const auto cell = static_cast<size_t>(position);
    targets.set(cell, fmt::format("{}", is_bool ? decltype(element)(element != 0) : element));
  });
  return targets;
}

std::vector<std::string> numbered(const char* name, int64_t count) {
  std::vector<std::string> names;
  names.reserve(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) names.push_back(fmt::format("{}{}", name, i));
  return names;
}

}  // namespace

NpyFile read_npy(const std::filesystem::path& path, const std::vector<double>* offsets) {
  NpyReader reader(path);
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
  std::string begin(kNpyMagic.size(), '\0');
  file.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  return file && begin == kNpyMagic;
}

NpyFile read_npy_features(const std::filesystem::path& path, const std::vector<double>* offsets) {
  NpyFile file = read_npy(path, offsets);
  if (file.shape.size() >= 2) return file;
  throw data_error(path.string(), fmt::format("expected features [n, features], got shape {}; save "
                                              "array.reshape(-1, 1) if it is a single feature",
                                              shape_text(file.shape)));
}

Table read_npy_pair(const std::filesystem::path& features, const std::filesystem::path& targets,
                    const std::vector<double>* offsets, bool expects_labels) {
  NpyReader reader(targets);
  const std::vector<int64_t>& shape = reader.header().shape;
  if (shape.size() > 2) {
    reader.fail(
        fmt::format("expected targets [n] or [n, targets], got shape {}; check that features and "
                    "targets are not swapped",
                    shape_text(shape)));
  }
  NpyFile file = read_npy_features(features, offsets);
  if (file.shape[0] != reader.num_rows()) {
    reader.fail(fmt::format(
        "expected one target for each of the {} rows of {}, got {}; save both files from the same "
        "rows",
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
  table.targets = read_targets(reader, expects_labels);
  table.fingerprints = {std::move(file.fingerprint), reader.fingerprint()};
  return table;
}

}  // namespace trainer::data
