// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "trainer/archive/value.h"

namespace trainer::archive {

/// Writes `root` as a file that Python opens with `torch.load(path)`: PyTorch's zip container
/// (stored entries `<name>/data.pkl`, `<name>/data/<n>`, `<name>/version`, tensor bytes aligned to
/// 64) around a pickle of plain containers and tensors. Equal values give equal bytes. The file
/// appears under `path` complete or not at all (see core/atomic_file.h).
/// Throws Error(kFileSystem).
void save(const std::filesystem::path& path, const Dict& root);

/// Reads such a file, written by save() or by Python's `torch.save` of plain containers and
/// tensors. The CRC-32 of every record is verified; tensors point into one buffer of the file.
/// Nothing but plain containers, numbers, strings and tensors is accepted, and no size is trusted
/// before it is checked against the file.
/// Throws Error(kCheckpoint) that names the file, the record and what is wrong with it.
Dict load(const std::filesystem::path& path);

}  // namespace trainer::archive
