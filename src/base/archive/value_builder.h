// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "trainer/base/archive/value.h"

#include "base/archive/file_buffer.h"
#include "base/archive/zip.h"

namespace trainer::archive {

/// Returns the dict that the record `<stem>/data.pkl` describes. Its tensors point into `file` if
/// possible. The numbers of values, bytes of text and copied bytes are limited: objects may be
/// shared, so a small pickle may describe a huge tree. Throws Error(kCheckpoint), whose message
/// begins with `location`.
Dict build_values(const FileBuffer& file, const ZipRecords& records, const std::string& stem,
                  const std::string& location);

}  // namespace trainer::archive
