// SPDX-License-Identifier: Apache-2.0
#include "trainer/base/io/made_folders.h"

#include <algorithm>

#include "trainer/base/io/atomic_file.h"

namespace trainer {
namespace fs = std::filesystem;

MadeFolders::~MadeFolders() {
  std::for_each(folders_.rbegin(), folders_.rend(), [](const fs::path& folder) {
    std::error_code ignored;
    fs::remove(folder, ignored);  // removes only empty folders
  });
}

bool MadeFolders::make(const fs::path& folder, std::error_code& error) {
  if (!fs::create_directory(folder, error)) return false;
  folders_.push_back(folder);
  // A file in a new folder survives a power failure only if the name of the folder is on disk.
  sync_folder(folder.parent_path());
  return true;
}

void MadeFolders::make_with_parents(const fs::path& folder, std::error_code& error) {
  std::vector<fs::path> missing;
  for (fs::path at = folder; !at.empty() && !fs::exists(at, error) && !error;
       at = at.parent_path()) {
    missing.push_back(at);
  }
  while (!error && !missing.empty()) {
    make(missing.back(), error);
    missing.pop_back();
  }
}

}  // namespace trainer
