// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// TensorBoard's event files, without protobuf. A file is a list of records: length (8 bytes),
// masked CRC-32C of the length (4), data, masked CRC-32C of the data, all little-endian
// (tensorflow/core/lib/io/record_writer.cc). The data of each is an Event (event.proto).

namespace trainer::tensorboard {

/// Returns the masked CRC-32C (Castagnoli) that follows each part of a record.
uint32_t masked_crc32c(std::span<const std::byte> bytes);

/// The name of a hyperparameter and its value as text.
using NamedText = std::pair<std::string, std::string>;

/// An RGB picture: rows from the top, 3 bytes (red, green, blue) for each pixel.
struct Image {
  int64_t width = 0;
  int64_t height = 0;
  std::vector<uint8_t> pixels = {};  // [height, width, 3]
};

/// An event file that is open for appending; a reader sees each event as soon as it is added.
class EventFile {
 public:
  /// Makes an object without a file, whose functions do nothing.
  EventFile() = default;
  /// Makes a new file in `folder`, which is created if necessary. Readers then discard what other
  /// files in the folder have from `first_step` on, as after a resume; 0 means that they keep
  /// everything. Throws Error(kFileSystem), as do all functions.
  EventFile(const std::filesystem::path& folder, int64_t first_step);
  ~EventFile();
  /// Swaps the files: `other` will close the one that this object had.
  EventFile& operator=(EventFile&& other) noexcept;
  EventFile(EventFile&& other) noexcept;
  EventFile(const EventFile&) = delete;
  EventFile& operator=(const EventFile&) = delete;

  bool is_open() const { return descriptor_ >= 0; }

  /// Adds the point (`step`, `value`) to the curve `tag`; the value is stored as a 32-bit float.
  void add_scalar(const std::string& tag, double value, int64_t step);

  /// Adds a histogram of the values with 30 buckets of equal width. Values that are not finite are
  /// left out; if there are no others, nothing is added.
  void add_histogram(const std::string& tag, std::span<const float> values, int64_t step);

  /// Adds a picture, which is stored as PNG.
  void add_image(const std::string& tag, const Image& image, int64_t step);

  /// Adds a text, which TensorBoard shows as Markdown.
  void add_text(const std::string& tag, const std::string& text, int64_t step);

  /// Adds the hyperparameters of the run, which TensorBoard's HParams shows beside its metrics.
  void add_hyperparameters(const std::vector<NamedText>& hyperparameters);

  /// Makes readers discard what was added from this step on, because these steps are repeated.
  void go_back_to(int64_t step);

 private:
  void add(std::string_view event);

  std::filesystem::path path_;
  int descriptor_ = -1;
};

}  // namespace trainer::tensorboard
