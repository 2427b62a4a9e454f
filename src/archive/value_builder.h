// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "trainer/archive/value.h"

#include "archive/file_buffer.h"
#include "archive/zip.h"

namespace trainer::archive {

/// The dict that the record `<stem>/data.pkl` describes; tensors point into `file` if possible. The
/// result stays within budgets of values, text and copied bytes: objects may be shared, so a small
/// pickle may describe a huge tree.
/// Throws Error(kCheckpoint) that begins with `location`.
Dict build_values(const FileBuffer& file, const ZipRecords& records, const std::string& stem,
                  const std::string& location);

}  // namespace trainer::archive
