// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "trainer/base/archive/value.h"

/// The file format of safetensors: eight bytes with the length of a header, little-endian; the
/// header, a JSON object with type, shape and offsets of each tensor; then the bytes of the tensors
/// without gaps.

namespace trainer::archive {

/// The tensors and the metadata of a safetensors file.
struct Safetensors {
  std::vector<std::pair<std::string, TensorData>> tensors;
  /// Entries of "__metadata__"; sorted by name when read.
  std::vector<std::pair<std::string, std::string>> metadata;
};

/// Whether the file has the extension `.safetensors` or begins like a safetensors file. False for
/// an unreadable file without the extension.
bool is_safetensors(const std::filesystem::path& path);

/// Writes the file, completely or not at all: it is read back and compared byte for byte before it
/// is renamed to `path`. The bytes of the tensors begin at a multiple of 64; tensors with large
/// elements come first, so that every element is aligned to its size. Equal values give equal
/// bytes. Throws Error(kFileSystem), and Error(kRuntime) for a duplicate name or one that is not
/// UTF-8.
void write_safetensors(const std::filesystem::path& path, const Safetensors& content);

/// Reads a safetensors file. The tensors point into one buffer and are ordered by offset. Every
/// size is checked against the file before it is used, and the tensors must fill the file without
/// gaps. Throws Error(kCheckpoint), which names the file and the problem, and Error(kOutOfMemory)
/// if the file does not fit into memory.
Safetensors read_safetensors(const std::filesystem::path& path);

}  // namespace trainer::archive
