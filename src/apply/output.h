// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "trainer/core/atomic_file.h"

#include "apply/gzip_writer.h"

namespace trainer::apply {

/// Where the result of a command goes: a file that appears complete or not at all; or a pipe, a
/// device or the standard output ("-"), which get it bit by bit. What ends in ".gz" is packed.
/// Throws Error(kFileSystem).
class Output {
 public:
  explicit Output(const std::filesystem::path& path);

  void write(std::string_view text);
  void finish();

 private:
  struct Closer {
    void operator()(std::FILE* file) const {
      if (file != stdout) std::fclose(file);
    }
  };
  [[noreturn]] void fail() const;
  void put(std::string_view bytes);

  std::string name_;
  std::optional<GzipWriter> packer_;
  std::optional<AtomicFile> file_;
  std::unique_ptr<std::FILE, Closer> stream_;
};

}  // namespace trainer::apply
