// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "trainer/archive/value.h"

/// The file format of safetensors: eight bytes with the length of a header, little-endian; the
/// header, a JSON object with type, shape and offsets of each tensor; then the bytes of the tensors
/// without gaps.
namespace trainer::archive {

/// The content of a safetensors file.
struct Safetensors {
  std::vector<std::pair<std::string, TensorData>> tensors;
  std::vector<std::pair<std::string, std::string>> metadata;  // "__metadata__", by name when read
};

/// Whether the file begins like a safetensors file or has the extension `.safetensors`. False for
/// an unreadable file.
bool is_safetensors(const std::filesystem::path& path);

/// Writes the file, complete or not at all: it is read back and compared byte for byte first. The
/// tensors' bytes begin at a multiple of 64; those with large elements come first, so that every
/// element is aligned to its size. Equal values give equal bytes. Throws Error(kFileSystem), and
/// Error(kRuntime) for a duplicate name or one that is not UTF-8.
void write_safetensors(const std::filesystem::path& path, const Safetensors& content);

/// Reads a safetensors file. The tensors point into one buffer and are ordered by offset. Every
/// size is checked against the file before it is used, and the tensors must fill the file without
/// gaps. Throws Error(kCheckpoint) that names the file and what is wrong with it, and
/// Error(kOutOfMemory) if the file does not fit into memory.
Safetensors read_safetensors(const std::filesystem::path& path);

}  // namespace trainer::archive
