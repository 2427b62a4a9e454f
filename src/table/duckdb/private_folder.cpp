// SPDX-License-Identifier: Apache-2.0
#include "table/duckdb/private_folder.h"

#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): mkdtemp() on Linux
#include <unistd.h>  // mkdtemp() on macOS

#include <string>
#include <system_error>

namespace trainer::duckdb {

namespace fs = std::filesystem;

PrivateFolder::PrivateFolder() {
  std::error_code none;
  const fs::path base = fs::temp_directory_path(none);
  if (none || !base.is_absolute()) return;  // never below the working directory
  std::string name = (base / "trainer-XXXXXX").string();
  if (::mkdtemp(name.data()) != nullptr) path_ = name;
}

PrivateFolder::~PrivateFolder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

}  // namespace trainer::duckdb
