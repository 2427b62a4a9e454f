// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "trainer/apply/export.h"

namespace trainer::apply {

/// Writes weights and metadata as a safetensors file, complete or not at all (see
/// archive::write_safetensors). Throws Error(kFileSystem).
ExportReport export_safetensors(const Model& model, const std::filesystem::path& path);

}  // namespace trainer::apply
