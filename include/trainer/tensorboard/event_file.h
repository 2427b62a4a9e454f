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

/// The masked CRC-32C (Castagnoli) of a record's parts.
uint32_t masked_crc32c(std::span<const std::byte> bytes);

/// A hyperparameter and its value.
using NamedText = std::pair<std::string, std::string>;

/// Pixels in rows from the top, 3 bytes each: red, green, blue.
struct Image {
  int64_t width = 0;
  int64_t height = 0;
  std::vector<uint8_t> pixels = {};  // [height, width, 3]
};

/// An event file that is open for appending; a reader sees each event as soon as it is added.
class EventFile {
 public:
  /// Of no file: all functions do nothing.
  EventFile() = default;
  /// Makes a new file in `folder`, which is made too. `first_step`: readers forget what other files
  /// in the folder have from this step on, as after a resume. Throws Error(kFileSystem), as do all
  /// functions.
  EventFile(const std::filesystem::path& folder, int64_t first_step);
  ~EventFile();
  /// `other` has the file of this one then.
  EventFile& operator=(EventFile&& other) noexcept;
  EventFile(EventFile&& other) noexcept;
  EventFile(const EventFile&) = delete;
  EventFile& operator=(const EventFile&) = delete;

  bool is_open() const { return descriptor_ >= 0; }

  /// A number of a curve.
  void add_scalar(const std::string& tag, double value, int64_t step);

  /// How the values are distributed, in buckets of equal width; those that are not finite are left
  /// out.
  void add_histogram(const std::string& tag, std::span<const float> values, int64_t step);

  /// A picture.
  void add_image(const std::string& tag, const Image& image, int64_t step);

  /// Markdown.
  void add_text(const std::string& tag, const std::string& text, int64_t step);

  /// The hyperparameters of the run; TensorBoard's HParams shows them beside its metrics.
  void add_hyperparameters(const std::vector<NamedText>& hyperparameters);

  /// Readers forget what was added from this step on.
  void go_back_to(int64_t step);

 private:
  void add(std::string_view event);

  std::filesystem::path path_;
  int descriptor_ = -1;
};

}  // namespace trainer::tensorboard
