// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "trainer/archive/safetensors.h"

#include "archive/file_buffer.h"

/// The header of a safetensors file: JSON with type, shape and offsets of each tensor.
namespace trainer::archive {

inline constexpr std::size_t kLengthBytes = 8;  // of the header's length, before the header

/// The length of the header, from the first kLengthBytes bytes of the file.
uint64_t header_length(std::span<const std::byte> begin);

/// The tensors and metadata of a file, whose header lies within it. Throws Error(kCheckpoint).
Safetensors parse_safetensors(const FileBuffer& file, const std::string& path);

using Named = std::pair<std::string, TensorData>;

/// The header of a file with these tensors in this order. Throws Error(kRuntime) for a duplicate
/// name or one that is not UTF-8.
std::string make_header(const Safetensors& content, const std::vector<const Named*>& order);

}  // namespace trainer::archive
