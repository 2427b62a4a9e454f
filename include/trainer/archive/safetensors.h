// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "trainer/archive/value.h"

/// The file format of safetensors: eight bytes with the length of a header, little-endian; the
/// header, a JSON object with type, shape and place of each tensor; then their bytes, one behind
/// the other.
namespace trainer::archive {

/// The content of a safetensors file.
struct Safetensors {
  std::vector<std::pair<std::string, TensorData>> tensors;
  std::vector<std::pair<std::string, std::string>> metadata;  // "__metadata__", by name when read
};

/// Whether the file begins as a safetensors file does, or is called `.safetensors` at least.
/// False for what cannot be read.
bool is_safetensors(const std::filesystem::path& path);

/// Writes the file, complete or not at all, after it has been read again and found to be the same
/// to the byte. The tensors' bytes begin at a multiple of 64; those with large elements come first,
/// so that every element is aligned to its size. Equal values give equal bytes.
/// Throws Error(kFileSystem), and Error(kRuntime) for a name that stands twice or is no UTF-8.
void write_safetensors(const std::filesystem::path& path, const Safetensors& content);

/// Reads such a file; the tensors point into one buffer of it and come in the order of their bytes.
/// No size is believed before it is checked against the file, and the tensors must fill it without
/// a gap. Throws Error(kCheckpoint) that names the file and what is wrong with it, and
/// Error(kOutOfMemory) when there is no memory for it.
Safetensors read_safetensors(const std::filesystem::path& path);

}  // namespace trainer::archive
