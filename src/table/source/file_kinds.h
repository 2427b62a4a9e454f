// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

namespace trainer::data {

/// How many bytes tell what a file is.
inline constexpr size_t kKindBytes = 16;

/// Throws Error(kData) that says what to do if `first`, the first bytes of the file that messages
/// call `name`, are those of something that is no table: a workbook of Excel, an archive, the
/// pointer of Git LFS, a page of the web.
void require_no_other_kind(const std::string& name, std::span<const std::byte> first);

/// The same of the file at `path`, if it can be read, which may be Parquet.
void require_no_other_kind(const std::filesystem::path& path);

}  // namespace trainer::data
