// SPDX-License-Identifier: Apache-2.0
#include "trainer/base/io/read_text.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <system_error>

#include <fmt/format.h>

namespace trainer {

std::optional<std::string> read_text(const std::filesystem::path& path, ErrorKind kind,
                                     std::string_view problem) {
  const auto failed = [&](int code) {
    return Error(kind, fmt::format("{}: {}: {}", path.string(), problem,
                                   std::generic_category().message(code)));
  };
  const int descriptor = until_done([&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC); });
  if (descriptor < 0) {
    if (errno == ENOENT || errno == ENOTDIR) return std::nullopt;
    throw failed(errno);
  }
  std::string text;
  std::array<char, std::size_t{1} << 16> part{};
  for (;;) {
    const ssize_t count = until_done([&] { return ::read(descriptor, part.data(), part.size()); });
    if (count > 0) {
      text.append(part.data(), static_cast<std::size_t>(count));
      continue;
    }
    const int code = count == 0 ? 0 : errno;
    ::close(descriptor);
    if (code != 0) throw failed(code);
    return text;
  }
}

}  // namespace trainer
