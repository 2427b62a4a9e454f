// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

namespace trainer::data {

/// Enough of a data file to notice later that it changed.
struct Fingerprint {
  std::string path;  // absolute
  uint64_t num_bytes = 0;
  uint32_t crc32 = 0;

  bool operator==(const Fingerprint&) const = default;
};

/// Throws Error(kData) when the file cannot be read.
Fingerprint fingerprint(const std::filesystem::path& path);

/// What is compared of a file: "987 bytes with CRC-32 fedcba98".
std::string content_text(const Fingerprint& file);

/// A table or IDX file that is read once from begin to end. A gzip or zstd file, told by its first
/// bytes, is unpacked on the way; it may have several members or frames, and what else follows
/// those of gzip is no content. A SQLite database gives the text of its table, see SqliteReader.
class DataFile {
 public:
  /// What is there to be read again; anything that gives bytes: a pipe, a device; or such a one
  /// whose bytes, which are not packed, are given as they arrive.
  enum class Kind { kRegular, kAny, kFollowed };

  /// "-" is the standard input but for kRegular. Throws Error(kData) when the file is missing,
  /// unreadable, a folder, not of that kind, or packed and followed.
  explicit DataFile(const std::filesystem::path& path, Kind kind = Kind::kRegular);
  ~DataFile();
  DataFile(DataFile&& other) noexcept;
  DataFile(const DataFile&) = delete;
  DataFile& operator=(const DataFile&) = delete;
  DataFile& operator=(DataFile&&) = delete;

  /// For messages.
  const std::string& name() const;

  /// Fills as much of `buffer` as the content still holds and says how much that is; less than
  /// asked for at its end only. If it is followed, waits for a byte at least; 0 is its end. Throws
  /// Error(kData), also for a damaged packed file.
  size_t read(std::span<std::byte> buffer);

  /// Whether read() gives bytes as they arrive.
  bool is_followed() const;

  /// Whether the content begins as an IDX file does, which no text can. Nothing may be read before.
  bool begins_as_idx();

  /// Whether its text has lines that people can look at: a database has rows.
  bool has_lines() const;

  /// Bytes read so far, of the file as it lies on the disk.
  uint64_t bytes_read() const;
  /// Those of the whole file, 0 where that is not known.
  uint64_t size_hint() const;
  /// Those of the content, guessed from what was read of a packed file.
  uint64_t content_size_hint() const;

  /// Of the whole file as it lies on the disk; reads what is left of it.
  Fingerprint fingerprint();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace trainer::data
