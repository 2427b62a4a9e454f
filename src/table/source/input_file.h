// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "trainer/table/source/data_file.h"

namespace trainer::data {

/// A file that is read once from begin to end and takes its fingerprint on the way.
class InputFile {
 public:
  /// Only of kRegular is the checksum computed.
  using Kind = DataFile::Kind;

  /// "-" is the standard input but for kRegular. Throws Error(kData) when the file is missing,
  /// unreadable, a folder or not of that kind.
  explicit InputFile(const std::filesystem::path& path, Kind kind = Kind::kRegular);

  /// For messages.
  const std::string& name() const { return name_; }

  /// Fills as much of `buffer` as the file still holds and says how much that is, or if
  /// it is followed, as much as has arrived; 0 at its end. Throws Error(kData).
  size_t read(std::span<std::byte> buffer);
  bool is_followed() const { return kind_ == Kind::kFollowed; }
  uint64_t bytes_read() const { return fingerprint_.num_bytes; }
  /// The size that the system tells, or 0.
  uint64_t size_hint() const;
  /// Of the whole file; reads what is left of it.
  Fingerprint fingerprint();

 private:
  size_t read_arrived(std::span<std::byte> buffer) const;

  struct Closer {
    void operator()(std::FILE* file) const {
      if (file != stdin) std::fclose(file);
    }
  };

  std::filesystem::path path_;
  std::string name_;
  Kind kind_;
  std::unique_ptr<std::FILE, Closer> file_;
  Fingerprint fingerprint_;  // of what was read
};

/// How many bytes tell what a file is.
inline constexpr size_t kKindBytes = 16;

/// Throws Error(kData) that says what to do if `first`, the first bytes of the file that messages
/// call `name`, are those of something that is no table: a workbook of Excel, an archive, the
/// pointer of Git LFS, a page of the web.
void require_no_other_kind(const std::string& name, std::span<const std::byte> first);

/// The same of the file at `path`, if it can be read, which may be Parquet.
void require_no_other_kind(const std::filesystem::path& path);

}  // namespace trainer::data
