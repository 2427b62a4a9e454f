// SPDX-License-Identifier: Apache-2.0
#include "trainer/data/fingerprint.h"

#include "data/file_bytes.h"

namespace trainer::data {

Fingerprint fingerprint(const std::filesystem::path& path) { return InputFile(path).fingerprint(); }

}  // namespace trainer::data
