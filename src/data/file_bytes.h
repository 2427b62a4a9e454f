// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "trainer/core/error.h"
#include "trainer/data/fingerprint.h"

namespace trainer::data {

/// An Error(kData) about `place`: a file, or a file and a line.
Error data_error(std::string_view place, std::string_view problem);

/// A file that is read once from begin to end and takes its fingerprint on the way.
class InputFile {
 public:
  /// Throws Error(kData) when the file is missing, unreadable or not a regular file: a pipe could
  /// be read only once, and a device might never end.
  explicit InputFile(const std::filesystem::path& path);

  /// Fills as much of `buffer` as the file still holds and says how much that is; 0 at its end.
  /// Throws Error(kData).
  size_t read(std::span<std::byte> buffer);
  /// The size that the system tells, or 0.
  uint64_t likely_bytes() const;
  /// Of the whole file; reads what is left of it.
  Fingerprint fingerprint();

 private:
  struct Closer {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  std::filesystem::path path_;
  std::unique_ptr<std::FILE, Closer> file_;
  Fingerprint fingerprint_;  // of what was read
};

/// All that `file` still holds.
std::string read_all(InputFile& file);

/// Throws Error(kData) when the content `text` of `file` has a NUL byte.
void require_text(const std::string& file, const std::string& text);

}  // namespace trainer::data
