// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "trainer/base/archive/safetensors.h"

#include "base/archive/file_buffer.h"

/// The header of a safetensors file: JSON with type, shape and offsets of each tensor.

namespace trainer::archive {

inline constexpr std::size_t kLengthBytes = 8;  // size of the field with the header's length

/// Returns the length of the header, which is in the first kLengthBytes bytes of the file.
uint64_t header_length(std::span<const std::byte> begin);

/// Parses a file whose header length has been checked to lie within the file. Throws
/// Error(kCheckpoint).
Safetensors parse_safetensors(const FileBuffer& file, const std::string& path);

using Named = std::pair<std::string, TensorData>;

/// Returns the header of a file with these tensors in this order. Throws Error(kRuntime) for a
/// duplicate name, or a name that is not UTF-8.
std::string make_header(const Safetensors& content, const std::vector<const Named*>& order);

}  // namespace trainer::archive
