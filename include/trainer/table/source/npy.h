// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "trainer/table/table.h"

namespace trainer::data {

/// One array of NumPy. Elements of uint8 and bool stay bytes, all others become float32, whatever
/// their byte order was.
struct NpyFile {
  std::vector<int64_t> shape;
  Matrix elements;  // [first size, product of the others]; rows in C order
  Fingerprint fingerprint;
  std::vector<double> offsets;  // [columns] subtracted from the elements; empty: 0 of all
};

/// Reads a .npy file of format version 1, 2 or 3
/// (https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html): float16, float32,
/// float64, bool, and integers of 8 to 64 bits, in either byte order and in C or Fortran order.
/// `offsets` [columns], which may be empty, are subtracted in double; without them they are chosen
/// from rows all over the array (Scaling), of elements that float32 may not hold.
/// Throws Error(kData): missing or unreadable file, no such file of NumPy, a damaged header,
/// another element type (objects, which are pickled; structured; complex; text), sizes that do not
/// match the file, no elements, and an element that float32 cannot hold, with its position. Memory
/// is taken once the header is known to fit the file.
NpyFile read_npy(const std::filesystem::path& path, const std::vector<double>* offsets = nullptr);

/// Whether a file is there and begins as a .npy file does.
bool is_npy(const std::filesystem::path& path);

/// Reads features `[n, features]`, or images `[n, ...]`, for which no targets are there. Throws
/// Error(kData) as read_npy does, and for other shapes.
NpyFile read_npy_features(const std::filesystem::path& path,
                          const std::vector<double>* offsets = nullptr);

/// Reads features `[n, features]`, or images `[n, ...]` whose elements become features row by row,
/// called "x0", "x1" and so on; and targets, `[n]` called "y", or `[n, targets]` called "y0", "y1"
/// and so on. Table::file is the file of the targets. Throws Error(kData) as read_npy does, and
/// where the shapes do not fit together. `offsets` are those of features, as read_npy has them.
Table read_npy_pair(const std::filesystem::path& features, const std::filesystem::path& targets,
                    const std::vector<double>* offsets = nullptr, bool expects_labels = false);

}  // namespace trainer::data
