// SPDX-License-Identifier: Apache-2.0
#include "trainer/run/tracking/notes.h"

#include <system_error>

#include <fmt/format.h>

#include "trainer/base/error.h"
#include "trainer/base/io/atomic_file.h"
#include "trainer/base/io/read_text.h"
#include "trainer/run/folder/run_dir.h"

namespace trainer::tracking {
std::string read_note(const std::filesystem::path& folder) {
  std::string text = read_text(run::RunDir{folder}.note()).value_or("");
  text.resize(text.find_last_not_of(" \t\r\n") + 1);
  return text;
}

void write_note(const std::filesystem::path& folder, const std::string& text) {
  if (!text.empty()) return write_file_atomically(run::RunDir{folder}.note(), text + "\n");
  std::error_code error;
  std::filesystem::remove(run::RunDir{folder}.note(), error);
  if (!error) return;
  throw Error(
      ErrorKind::kFileSystem,
      fmt::format("cannot remove {}: {}", run::RunDir{folder}.note().string(), error.message()));
}

}  // namespace trainer::tracking
