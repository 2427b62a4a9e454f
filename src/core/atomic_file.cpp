// SPDX-License-Identifier: Apache-2.0
#include "trainer/core/atomic_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fstream>
#include <new>
#include <string>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "trainer/core/crash_point.h"
#include "trainer/core/error.h"

namespace trainer {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBlock = 4096;  // what disks and pages are divided into
constexpr std::size_t kBufferSize = std::size_t{1} << 19;
constexpr int kMaxTemporaryNames = 1000;

[[noreturn]] void fail(const fs::path& path, int code) {
  throw Error(ErrorKind::kFileSystem, fmt::format("cannot write {}: {}", path.string(),
                                                  std::generic_category().message(code)));
}

fs::path parent_folder(const fs::path& path) {
  const fs::path folder = path.parent_path();
  return folder.empty() ? fs::path(".") : folder;
}

// ".best.pt.tmp-4711", then ".best.pt.tmp-4711-1" and so on. The name begins with a dot so that
// nobody lists it, and always contains ".tmp-" so that what a killed process left can be found.
fs::path temporary_name(const fs::path& path, int attempt) {
  std::string name = fmt::format(".{}.tmp-{}", path.filename().string(), ::getpid());
  if (attempt > 0) name += fmt::format("-{}", attempt);
  return path.parent_path() / name;
}

// Calls `create` (which returns -1 with errno EEXIST when the name is taken) with one name after
// the other. A process killed earlier may have had the same id: in a container it is often 1.
template <typename Create>
std::pair<fs::path, int> create_temporary(const fs::path& path, Create create) {
  for (int attempt = 0; attempt < kMaxTemporaryNames; ++attempt) {
    fs::path name = temporary_name(path, attempt);
    const int result = create(name.c_str());
    if (result >= 0) return {std::move(name), result};
    if (errno != EEXIST && errno != EINTR) fail(path, errno);
  }
  fail(path, EEXIST);
}

// Until the bytes are on the disk itself: on macOS fsync() only hands them to the drive's cache.
int sync_descriptor(int descriptor) {
#ifdef F_FULLFSYNC
  if (::fcntl(descriptor, F_FULLFSYNC) == 0) return 0;
#endif
  int result = 0;
  do {
    result = ::fsync(descriptor);
  } while (result != 0 && errno == EINTR);
  return result;
}

// Whether the next writes go from the buffer to the disk, past the system's cache, where there is a
// way: that takes a third of the CPU time, which training wants, and leaves the cache to files that
// somebody reads. Returns false when nothing changed.
bool pass_by_cache([[maybe_unused]] int descriptor, [[maybe_unused]] bool wanted) {
#ifdef O_DIRECT
  const int flags = ::fcntl(descriptor, F_GETFL);
  const int changed = wanted ? flags | O_DIRECT : flags & ~O_DIRECT;
  return flags >= 0 && changed != flags && ::fcntl(descriptor, F_SETFL, changed) == 0;
#else
  return false;
#endif
}

void rename_over(const fs::path& from, const fs::path& to) {
  crash_point();
  if (std::rename(from.c_str(), to.c_str()) != 0) fail(to, errno);
  crash_point();
}

// Puts a temporary name in the place of `name`, or removes it.
void rename_or_remove(const fs::path& temporary, const fs::path& name) {
  try {
    rename_over(temporary, name);
  } catch (const Error&) {
    ::unlink(temporary.c_str());
    throw;
  }
}

void copy_bytes(const fs::path& from, const fs::path& to) {
  std::ifstream source(from, std::ios::binary);
  AtomicFile copy(to);
  std::vector<char> buffer(std::size_t{1} << 20);
  while (source.read(buffer.data(), static_cast<std::streamsize>(buffer.size())) ||
         source.gcount() > 0) {
    copy.write(std::string_view(buffer.data(), static_cast<std::size_t>(source.gcount())));
  }
  if (!source.eof()) fail(from, EIO);
  copy.commit();
}

}  // namespace

AtomicFile::AtomicFile(fs::path path) : path_(std::move(path)) {
  std::tie(temporary_, descriptor_) = create_temporary(path_, [](const char* name) {
    return ::open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  });
}

AtomicFile::~AtomicFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void AtomicFile::Free::operator()(std::byte* buffer) const {
  ::operator delete (buffer, std::align_val_t{kBlock});
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  if (buffer_ == nullptr) {
    buffer_.reset(static_cast<std::byte*>(::operator new (kBufferSize, std::align_val_t{kBlock})));
  }
  while (!bytes.empty()) {
    const std::size_t size = std::min(bytes.size(), kBufferSize - buffered_);
    std::copy_n(bytes.begin(), size, buffer_.get() + buffered_);
    buffered_ += size;
    bytes = bytes.subspan(size);
    if (buffered_ == kBufferSize) flush();
  }
}

void AtomicFile::flush() {
  crash_point();
  pass_by_cache(descriptor_, buffered_ == kBufferSize);
  std::span<const std::byte> bytes(buffer_.get(), buffered_);
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINVAL && pass_by_cache(descriptor_, false)) continue;
    if (written < 0 && errno != EINTR) fail(path_, errno);
    if (written > 0) bytes = bytes.subspan(static_cast<std::size_t>(written));
    if (written > 0 && !bytes.empty()) pass_by_cache(descriptor_, false);  // not aligned any more
  }
  buffered_ = 0;
}

void AtomicFile::write(std::string_view text) {
  write(std::as_bytes(std::span(text.data(), text.size())));
}

const fs::path& AtomicFile::flushed() {
  flush();
  return temporary_;
}

void AtomicFile::commit() {
  flush();
  crash_point();
  if (sync_descriptor(descriptor_) != 0) fail(path_, errno);
  // close() may report a late error of an earlier write (network file systems do).
  if (::close(std::exchange(descriptor_, -1)) != 0 && errno != EINTR) fail(path_, errno);
  rename_over(temporary_, path_);
  temporary_.clear();
  sync_folder(parent_folder(path_));
}

void write_file_atomically(const fs::path& path, std::string_view text) {
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

void replace_symlink(const fs::path& link, const fs::path& target) {
  const fs::path temporary = create_temporary(link, [&](const char* name) {
                               return ::symlink(target.c_str(), name);
                             }).first;
  rename_or_remove(temporary, link);
  sync_folder(parent_folder(link));
}

void publish_file(const fs::path& file, const fs::path& name) {
  std::error_code ignored;
  if (fs::equivalent(file, name, ignored)) return;
  const fs::path source = fs::weakly_canonical(file);  // not a link itself
  const fs::path temporary = temporary_name(name, 0);
  ::unlink(temporary.c_str());
  if (::link(source.c_str(), temporary.c_str()) != 0) return copy_bytes(source, name);
  rename_or_remove(temporary, name);
  sync_folder(parent_folder(name));
}

void sync_folder(const fs::path& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) fail(folder, errno);
  const int code = sync_descriptor(descriptor) == 0 ? 0 : errno;
  ::close(descriptor);
  // Some network file systems cannot sync a folder and say so by EINVAL; nothing is lost then.
  if (code != 0 && code != EINVAL) fail(folder, code);
}

void remove_temporary_files(const fs::path& folder, const std::string& name_of_file) {
  std::error_code ignored;  // what cannot be removed harms nobody
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    const std::size_t end = name.rfind(".tmp-");
    if (!name.starts_with('.') || end == std::string::npos) continue;
    if (name_of_file.empty() || name.substr(1, end - 1) == name_of_file) {
      fs::remove(entry.path(), ignored);
    }
  }
}

}  // namespace trainer
