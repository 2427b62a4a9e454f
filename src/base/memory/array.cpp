// SPDX-License-Identifier: Apache-2.0
#include "trainer/base/memory/array.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <string>

#include <fmt/format.h>

#include "trainer/base/error.h"
#include "trainer/base/io/read_text.h"
#include "trainer/base/text/format.h"

namespace trainer {
namespace {

constexpr size_t kMinMapped = size_t{1} << 20;

struct ArrayFolder {
  std::mutex mutex;
  std::filesystem::path path;
};

ArrayFolder& array_folder() {
  static ArrayFolder folder;
  return folder;
}

std::filesystem::path folder_of_arrays() {
  ArrayFolder& folder = array_folder();
  const std::lock_guard lock(folder.mutex);
  return folder.path;
}

// Rounds up to whole huge pages, which have 2 MiB on x86-64 and most Arm systems, or below 2 MiB to
// 64 KiB.
size_t whole_pages(size_t num_bytes) {
  constexpr size_t kHugePage = size_t{2} << 20;
  const size_t page = num_bytes < kHugePage ? size_t{64} << 10 : kHugePage;
  return (num_bytes + page - 1) / page * page;
}

int make_file(const std::filesystem::path& folder) {
  std::string path;
  const int file = until_done([&] {
    path = (folder / "array-XXXXXX").string();
    return ::mkstemp(path.data());
  });
  if (file < 0) {
    throw Error(ErrorKind::kFileSystem, fmt::format("cannot create a file in {}: {}",
                                                    folder.string(), std::strerror(errno)));
  }
  ::fcntl(file, F_SETFD, FD_CLOEXEC);
  ::unlink(path.c_str());
  return file;
}

// Allocates disk space for the whole file now: the first write to a mapped page for which the disk
// has no space would kill the process.
void make_room(int file, size_t num_bytes) {
  const auto size = static_cast<off_t>(num_bytes);
#ifdef __APPLE__
  fstore_t room{F_ALLOCATEALL, F_PEOFPOSMODE, 0, size, 0};
  const int problem =
      ::fcntl(file, F_PREALLOCATE, &room) == 0 && ::ftruncate(file, size) == 0 ? 0 : errno;
#else
  const int problem = ::posix_fallocate(file, 0, size);
#endif
  if (problem == 0) return;
  throw Error(
      ErrorKind::kFileSystem,
      fmt::format("an array of {} does not fit in {}: {}; choose another folder with "
                  "data.cache",
                  human_bytes(num_bytes), folder_of_arrays().string(), std::strerror(problem)));
}

void advise_huge_pages([[maybe_unused]] void* data, [[maybe_unused]] size_t num_bytes) {
#ifdef MADV_HUGEPAGE
  ::madvise(data, num_bytes, MADV_HUGEPAGE);  // if this fails, the pages are small
#endif
}

}  // namespace

void keep_arrays_in(const std::filesystem::path& folder) {
  ArrayFolder& shared = array_folder();
  const std::lock_guard lock(shared.mutex);
  shared.path = folder;
}

void advise(std::span<const std::byte> bytes, Access access) {
  static const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  const uintptr_t offset = reinterpret_cast<uintptr_t>(bytes.data()) % page;
  auto* first = const_cast<std::byte*>(bytes.data()) - offset;  // NOLINT: as it is declared
  const size_t size = bytes.size() + offset;
  switch (access) {  // errors are ignored: hints only affect the speed
    case Access::kRandom:
      ::posix_madvise(first, size, POSIX_MADV_RANDOM);
      break;
    case Access::kSoon:
      ::posix_madvise(first, size, POSIX_MADV_WILLNEED);
      break;
    case Access::kLate:
#ifdef MADV_COLD
      ::madvise(first, size, MADV_COLD);
#endif
      break;
  }
}

ArrayMemory::~ArrayMemory() {
  if (kind_ == Kind::kHeap) {
    std::free(data_);
  } else if (kind_ != Kind::kView && data_ != nullptr) {
    ::munmap(data_, capacity_);
  }
  if (file_ >= 0) ::close(file_);
}

void ArrayMemory::reserve(size_t num_bytes, size_t num_used) {
  const bool is_large = num_bytes >= kMinMapped;
  if (kind_ == Kind::kHeap && !is_large) {
    void* data = std::realloc(data_, num_bytes);
    if (data == nullptr) throw std::bad_alloc();
    data_ = data;
    capacity_ = num_bytes;
    return;
  }
  if ((kind_ == Kind::kMapped || kind_ == Kind::kFile) && grow_mapping(num_bytes)) return;
  ArrayMemory larger;
  if (is_large) {
    larger.map(num_bytes);
  } else {
    larger.reserve(num_bytes, 0);
  }
  if (num_used > 0) std::memcpy(larger.data_, data_, num_used);
  swap(larger);
}

void ArrayMemory::map(size_t num_bytes) {
  const size_t size = whole_pages(num_bytes);
  const std::filesystem::path folder = folder_of_arrays();
  if (!folder.empty()) {
    kind_ = Kind::kFile;
    file_ = make_file(folder);
    make_room(file_, size);
  } else {
    kind_ = Kind::kMapped;
  }
  const int flags = file_ >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
  void* data = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, flags, file_, 0);
  if (data == MAP_FAILED) throw std::bad_alloc();
  data_ = data;
  capacity_ = size;
  if (kind_ == Kind::kMapped) advise_huge_pages(data_, size);
}

/// Grows the mapping without copying it; false if the system cannot do that.
bool ArrayMemory::grow_mapping([[maybe_unused]] size_t num_bytes) {
#ifdef __linux__
  const size_t size = whole_pages(num_bytes);
  if (file_ >= 0) make_room(file_, size);
  void* data = ::mremap(data_, capacity_, size, MREMAP_MAYMOVE);
  if (data == MAP_FAILED) throw std::bad_alloc();
  data_ = data;
  capacity_ = size;
  if (kind_ == Kind::kMapped) advise_huge_pages(data_, size);
  return true;
#else
  return false;
#endif
}

void ArrayMemory::swap(ArrayMemory& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(capacity_, other.capacity_);
  std::swap(owner_, other.owner_);
  std::swap(file_, other.file_);
  std::swap(kind_, other.kind_);
}

}  // namespace trainer
