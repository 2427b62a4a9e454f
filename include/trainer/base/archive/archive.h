// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "trainer/base/archive/value.h"

namespace trainer::archive {

/// Writes `root` as a file that Python opens with `torch.load(path)`, in PyTorch 2 also with
/// `weights_only=True`: PyTorch's zip container (stored entries `archive/data.pkl`,
/// `archive/data/<n>`, `archive/version`, tensor bytes aligned to 64) around a pickle of plain
/// containers and tensors. Equal values give equal bytes, for any path. The file appears at `path`
/// completely or not at all (see base/io/atomic_file.h). Text that is not UTF-8 is preserved:
/// Python sees it with `surrogateescape`. Throws Error(kFileSystem), and Error(kRuntime) for a
/// value that could not be read again: a duplicate key in a dict, or containers nested deeper than
/// 100.
void save(const std::filesystem::path& path, const Dict& root);

/// Reads a file written by save() or by Python's `torch.save` of plain containers and tensors. The
/// CRC-32 of every record is verified; tensors point into one buffer of the file, which lives as
/// long as any of them. Only plain containers, numbers, strings and tensors are accepted, and every
/// size is checked against the file before it is used. Throws Error(kCheckpoint), which names the
/// file, the record and the problem, and Error(kOutOfMemory) if the file does not fit into memory.
Dict load(const std::filesystem::path& path);

}  // namespace trainer::archive
