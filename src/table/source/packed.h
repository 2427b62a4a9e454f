// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "table/source/input_file.h"

struct ZSTD_DCtx_s;

namespace trainer::data {

inline constexpr std::byte kGzipFirst{0x1F};
inline constexpr std::byte kGzipSecond{0x8B};

/// The content of a gzip file: of all its members, one after the other.
class GzipReader {
 public:
  /// `first` are the bytes of `file` that were read already. The file must outlive the reader.
  GzipReader(InputFile& file, std::span<const std::byte> first);

  /// Fills `bytes` and returns how many there are; fewer at the end. Throws Error(kData) for a file
  /// that is truncated or damaged.
  size_t read(std::span<std::byte> bytes);

  /// How much content was read.
  uint64_t num_bytes() const { return num_bytes_; }

 private:
  struct InflateEnd {
    void operator()(z_stream* stream) const;
  };

  size_t inflate_into(std::span<std::byte> bytes);
  bool has_input();
  bool begins_member() const;

  InputFile& file_;
  std::vector<std::byte> buffer_;
  std::span<std::byte> input_;  // the part of buffer_ that is still to be used
  std::unique_ptr<z_stream, InflateEnd> stream_;
  bool at_end_ = false;  // of the last member
  uint64_t num_bytes_ = 0;
};

inline constexpr std::byte kZstdFirst{0x28};
inline constexpr std::byte kZstdSecond{0xB5};

/// The content of a zstd file: of all its frames, one after the other.
class ZstdReader {
 public:
  /// `first` are the bytes of `file` that were read already. The file must outlive the reader.
  /// Throws Error(kData) where this program was built without zstd.
  ZstdReader(InputFile& file, std::span<const std::byte> first);

  /// Fills `bytes` and returns how many there are; fewer at the end. Throws Error(kData) for a file
  /// that is truncated or damaged.
  size_t read(std::span<std::byte> bytes);

  /// How much content was read.
  uint64_t num_bytes() const { return num_bytes_; }

 private:
  struct Free {
    void operator()(ZSTD_DCtx_s* context) const;
  };

  InputFile& file_;
  std::vector<std::byte> buffer_;
  std::span<std::byte> input_;  // the part of buffer_ that is still to be used
  std::unique_ptr<ZSTD_DCtx_s, Free> context_;
  bool is_in_frame_ = true;
  uint64_t num_bytes_ = 0;
};

}  // namespace trainer::data
