// SPDX-License-Identifier: Apache-2.0
#include "distributed/shared_memory.h"

#ifdef __linux__

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "trainer/base/io/read_text.h"

namespace trainer::dist {
namespace {

constexpr std::size_t kMaxRingBytes = std::size_t{1} << 18;  // fits into the second level cache
constexpr std::size_t kMinRingBytes = std::size_t{1} << 14;
// Exceeded only if rings would become too small.
constexpr std::size_t kMaxRegionBytes = std::size_t{1} << 22;

Token make_token() {
  std::random_device random;
  Token token{};
  for (std::size_t i = 0; i + 1 < token.size(); ++i) token[i] = "0123456789abcdef"[random() % 16];
  return token;
}

}  // namespace

RegionLayout layout_for(std::size_t num_processes) {
  return {.num_processes = num_processes,
          .ring_bytes = std::clamp(kMaxRegionBytes / num_processes, kMinRingBytes, kMaxRingBytes)};
}

FileHandle& FileHandle::operator=(FileHandle&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

FileHandle::~FileHandle() {
  if (fd_ >= 0) ::close(fd_);
}

Mapping::Mapping(const FileHandle& file, std::size_t size) : size_(size) {
  if (!file.is_open()) return;
  void* data = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (data != MAP_FAILED) data_ = static_cast<std::byte*>(data);
}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

Mapping::~Mapping() {
  if (data_ != nullptr) ::munmap(data_, size_);
}

Block make_block(std::size_t num_bytes) {
  Block block;
  block.file = FileHandle(::memfd_create("trainer", MFD_CLOEXEC));
  if (!block.file.is_open()) return block;
  const auto size = static_cast<off_t>(num_bytes);
  if (until_done([&] { return ::ftruncate(block.file.get(), size); }) != 0) return block;
  block.memory = Mapping(block.file, num_bytes);
  return block;
}

Block open_block(int id, int file, std::size_t num_bytes) {
  Block block;
  const std::string path = fmt::format("/proc/{}/fd/{}", id, file);
  block.file = FileHandle(until_done([&] { return ::open(path.c_str(), O_RDWR | O_CLOEXEC); }));
  // It is another file if the process is in another container.
  if (::lseek(block.file.get(), 0, SEEK_END) != static_cast<off_t>(num_bytes)) return block;
  block.memory = Mapping(block.file, num_bytes);
  return block;
}

Region make_region(const RegionLayout& layout) {
  Region region{make_block(layout.size())};
  // Reserves the memory. Otherwise, a lack of memory would kill the process when it writes.
  if (region.is_mapped() &&
      ::posix_fallocate(region.file.get(), 0, static_cast<off_t>(layout.size())) != 0) {
    region.memory = {};
  }
  if (!region.is_mapped()) return region;
  new (region.memory.data()) Desk{.token = make_token()};
  for (std::size_t i = 0; i < layout.num_processes; ++i) {
    new (region.memory.data() + layout.ring_offset(i)) Ring;
  }
  return region;
}

std::string notice_of(const Region& region) {
  if (!region.is_mapped()) return "none";
  return fmt::format("{} {} {}", ::getpid(), region.file.get(), region.desk().token.data());
}

OtherProcess open_process(const std::string& notice, const RegionLayout& layout) {
  OtherProcess other;
  std::istringstream words(notice);
  int file = 0;
  std::string token;
  if (!(words >> other.id >> file >> token)) return other;
  Region region{open_block(other.id, file, layout.size())};
  other.process = FileHandle(static_cast<int>(::syscall(SYS_pidfd_open, other.id, 0)));
  if (region.is_mapped() && other.process.is_open() &&
      std::memcmp(region.memory.data(), token.c_str(), token.size() + 1) == 0) {
    other.region = std::move(region);
  }
  return other;
}

}  // namespace trainer::dist

#endif
