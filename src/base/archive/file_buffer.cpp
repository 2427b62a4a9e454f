// SPDX-License-Identifier: Apache-2.0
#include "base/archive/file_buffer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <future>
#include <new>
#include <span>
#include <system_error>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "trainer/base/error.h"
#include "trainer/base/io/read_text.h"

#include "base/archive/zip.h"

namespace trainer::archive {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int descriptor) : descriptor_(descriptor) {}
  ~Descriptor() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return descriptor_; }

 private:
  int descriptor_;
};

// Fills `bytes` from the file, starting at `offset`.
void read_fully(int descriptor, std::size_t offset, std::span<std::byte> bytes,
                const std::string& path) {
  constexpr std::size_t kMaxBytesPerRead = std::size_t{1} << 30;
  while (!bytes.empty()) {
    const ssize_t got = until_done([&] {
      return ::pread(descriptor, bytes.data(), std::min(bytes.size(), kMaxBytesPerRead),
                     static_cast<off_t>(offset));
    });
    if (got < 0) fail(path, "cannot be read: " + std::generic_category().message(errno));
    if (got == 0) fail(path, "was truncated while it was being read");
    bytes = bytes.subspan(static_cast<std::size_t>(got));
    offset += static_cast<std::size_t>(got);
  }
}

// Reads several chunks in parallel. The slow part is not the file but the page faults of fresh
// memory: in a virtual machine, one thread gets less than 500 MB/s of it.
void read_in_parallel(int descriptor, std::span<std::byte> bytes, const std::string& path) {
  constexpr std::size_t kMinBytesPerPart = std::size_t{1} << 20;
  constexpr std::size_t kMaxParts = 4;
  const std::size_t max_chunks =
      std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, kMaxParts);
  const std::size_t num_chunks =
      std::clamp<std::size_t>(bytes.size() / kMinBytesPerPart, 1, max_chunks);
  const std::size_t chunk_size = (bytes.size() + num_chunks - 1) / num_chunks;
  std::vector<std::future<void>> others;
  for (std::size_t offset = chunk_size; offset < bytes.size(); offset += chunk_size) {
    const auto chunk = bytes.subspan(offset, std::min(chunk_size, bytes.size() - offset));
    // No launch policy: if no thread can be started, get() reads the chunk.
    others.push_back(std::async([=, &path] { read_fully(descriptor, offset, chunk, path); }));
  }
  read_fully(descriptor, 0, bytes.first(chunk_size), path);
  for (std::future<void>& other : others) other.get();
}

// Checks the first bytes before memory is allocated for the whole file.
void check_first_bytes(int descriptor, uint64_t file_size, CheckBegin check_begin,
                       const std::string& path) {
  std::array<char, 20> buffer{};
  const ssize_t got =
      until_done([&] { return ::pread(descriptor, buffer.data(), buffer.size(), 0); });
  if (got < 0) fail(path, "cannot be read: " + std::generic_category().message(errno));
  check_begin({buffer.data(), static_cast<std::size_t>(got)}, file_size, path);
}

}  // namespace

void fail(const std::string& path, const std::string& what) {
  throw Error(ErrorKind::kCheckpoint, fmt::format("{}: {}", path, what));
}

FileBuffer allocate(std::size_t size) {
  constexpr std::align_val_t kAlignment{kRecordAlignment};
  auto* data = static_cast<std::byte*>(::operator new(size, kAlignment));
  return {
      std::shared_ptr<std::byte>(data, [](std::byte* old) { ::operator delete(old, kAlignment); }),
      size};
}

// The file is read instead of mapped: if another process truncated a mapped file, SIGBUS would end
// this one. The CRC-32 needs every byte anyway.
FileBuffer read_file(const std::string& path, CheckBegin check_begin) {
  // Non-blocking, so that a pipe cannot hang the program before it is recognized.
  const Descriptor file(
      until_done([&] { return ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC); }));
  struct stat status {};
  if (file.get() < 0 || ::fstat(file.get(), &status) != 0) {
    fail(path, "cannot be opened: " + std::generic_category().message(errno));
  }
  if (S_ISDIR(status.st_mode)) fail(path, "is a folder, expected a checkpoint file");
  if (!S_ISREG(status.st_mode)) fail(path, "is not a regular file, expected a checkpoint file");
  if (status.st_size == 0) {
    fail(path, "is empty: it was not written completely; use an older checkpoint");
  }
  const auto size = static_cast<std::size_t>(status.st_size);
  check_first_bytes(file.get(), size, check_begin, path);
  try {
    FileBuffer buffer = allocate(size);
    read_in_parallel(file.get(), {buffer.data.get(), size}, path);
    return buffer;
  } catch (const std::bad_alloc&) {
    throw Error(ErrorKind::kOutOfMemory,
                fmt::format("{}: not enough memory for its {} bytes", path, size));
  }
}

}  // namespace trainer::archive
