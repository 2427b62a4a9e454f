// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "trainer/core/error.h"

namespace trainer::data {

struct FileCloser {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using FileHandle = std::unique_ptr<std::FILE, FileCloser>;

/// An Error(kData) about `place`: a file, or a file and a line.
Error data_error(std::string_view place, std::string_view problem);

/// The opened file. Throws Error(kData) when it is missing, unreadable or not a regular file: a
/// pipe could be read only once, and a device might never end.
FileHandle open_file(const std::filesystem::path& path);

/// Reads up to `size` bytes from where the file stands and says how many; 0 at its end.
size_t read_some(std::FILE* file, const std::filesystem::path& path, void* buffer, size_t size);

/// The whole content of a file; errors as open_file.
std::string read_file(const std::filesystem::path& path);

}  // namespace trainer::data
