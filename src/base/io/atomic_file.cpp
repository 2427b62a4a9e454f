// SPDX-License-Identifier: Apache-2.0
#include "trainer/base/io/atomic_file.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <new>
#include <string>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "trainer/base/error.h"
#include "trainer/base/io/read_text.h"

namespace trainer {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBlock = 4096;  // bytes; the alignment of memory that direct I/O needs
constexpr std::size_t kBufferSize = std::size_t{1} << 19;
constexpr int kMaxTemporaryNames = 1000;

[[noreturn]] void fail(const fs::path& path, int code) {
  throw Error(ErrorKind::kFileSystem, fmt::format("cannot write {}: {}", path.string(),
                                                  std::generic_category().message(code)));
}

// ".best.pt.tmp-4711", then ".best.pt.tmp-4711-1" and so on. The name begins with a dot so that
// it is hidden, and always contains ".tmp-" so that files left by a killed process can be found.
fs::path temporary_name(const fs::path& path, int attempt) {
  std::string name = fmt::format(".{}.tmp-{}", path.filename().string(), ::getpid());
  if (attempt > 0) name += fmt::format("-{}", attempt);
  return path.parent_path() / name;
}

// Calls `create` with one name after the other until it succeeds; it returns -1 with errno EEXIST
// if the name is taken. An earlier process may have had the same id: in a container it is often 1.
template <typename Create>
std::pair<fs::path, int> create_temporary(const fs::path& path, Create create) {
  for (int attempt = 0; attempt < kMaxTemporaryNames; ++attempt) {
    fs::path name = temporary_name(path, attempt);
    const int result = until_done([&] { return create(name.c_str()); });
    if (result >= 0) return {std::move(name), result};
    if (errno != EEXIST) fail(path, errno);
  }
  fail(path, EEXIST);
}

enum class DirectIo { kOff, kOn };

// Switches direct I/O on or off, where the system has it. Writing past the page cache takes a third
// of the CPU time, which is left for training, and does not evict other files from the cache.
// Returns false if nothing changed.
bool set_direct_io([[maybe_unused]] int descriptor, [[maybe_unused]] DirectIo direct) {
#ifdef O_DIRECT
  const int flags = ::fcntl(descriptor, F_GETFL);
  const int changed = direct == DirectIo::kOn ? flags | O_DIRECT : flags & ~O_DIRECT;
  return flags >= 0 && changed != flags && ::fcntl(descriptor, F_SETFL, changed) == 0;
#else
  return false;
#endif
}

void rename_over(const fs::path& from, const fs::path& to) {
  crash_point();
  if (until_done([&] { return std::rename(from.c_str(), to.c_str()); }) != 0) fail(to, errno);
  crash_point();
}

// Renames a temporary file to `name`, or removes it if that fails.
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
  set_direct_io(descriptor_, buffered_ == kBufferSize ? DirectIo::kOn : DirectIo::kOff);
  std::span<const std::byte> bytes(buffer_.get(), buffered_);
  while (!bytes.empty()) {
    const ssize_t written =
        until_done([&] { return ::write(descriptor_, bytes.data(), bytes.size()); });
    if (written < 0 && errno == EINVAL && set_direct_io(descriptor_, DirectIo::kOff)) continue;
    if (written < 0) fail(path_, errno);
    if (written > 0) bytes = bytes.subspan(static_cast<std::size_t>(written));
    if (written > 0 && !bytes.empty())
      set_direct_io(descriptor_, DirectIo::kOff);  // no longer aligned
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
  if (sync_file(descriptor_) != 0) fail(path_, errno);
  // close() may report a late error of an earlier write (network file systems do).
  if (::close(std::exchange(descriptor_, -1)) != 0 && errno != EINTR) fail(path_, errno);
  rename_over(temporary_, path_);
  temporary_.clear();
  sync_folder(path_.parent_path());
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
  sync_folder(link.parent_path());
}

void publish_file(const fs::path& file, const fs::path& name) {
  std::error_code ignored;
  if (fs::equivalent(file, name, ignored)) return;
  const fs::path source = fs::weakly_canonical(file);  // a hard link to a symlink would be one too
  const fs::path temporary = temporary_name(name, 0);
  ::unlink(temporary.c_str());
  if (until_done([&] { return ::link(source.c_str(), temporary.c_str()); }) != 0) {
    return copy_bytes(source, name);
  }
  rename_or_remove(temporary, name);
  sync_folder(name.parent_path());
}

std::error_code rename_durably(const fs::path& from, const fs::path& to) {
  crash_point();
  if (until_done([&] { return std::rename(from.c_str(), to.c_str()); }) != 0) {
    return {errno, std::generic_category()};
  }
  crash_point();
  sync_folder(to.parent_path());
  if (from.parent_path() != to.parent_path()) sync_folder(from.parent_path());
  return {};
}

int sync_file(int descriptor) {
#ifdef F_FULLFSYNC  // on macOS, where fsync() only writes to the cache of the drive
  if (until_done([&] { return ::fcntl(descriptor, F_FULLFSYNC); }) == 0) return 0;
#endif
  return until_done([&] { return ::fsync(descriptor); });
}

void sync_folder(const fs::path& named) {
  const fs::path folder = named.empty() ? "." : named;
  const int descriptor =
      until_done([&] { return ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); });
  if (descriptor < 0) fail(folder, errno);
  const int code = sync_file(descriptor) == 0 ? 0 : errno;
  ::close(descriptor);
  // Some network file systems cannot sync a folder and return EINVAL; that is no error.
  if (code != 0 && code != EINVAL) fail(folder, code);
}

void remove_temporary_files(const fs::path& folder, const std::string& file_name) {
  std::error_code ignored;  // leftovers do no harm
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    const std::size_t end = name.rfind(".tmp-");
    if (!name.starts_with('.') || end == std::string::npos) continue;
    if (file_name.empty() || name.substr(1, end - 1) == file_name) {
      fs::remove(entry.path(), ignored);
    }
  }
}

namespace {

int64_t calls_from_environment() {
  const char* text = std::getenv("TRAINER_CRASH_AT");
  return text == nullptr ? 0 : std::atoll(text);
}

}  // namespace

void crash_point() {
  static const bool stops = std::getenv("TRAINER_STOP_AT_EACH") != nullptr;
  if (stops) raise(SIGSTOP);
  static std::atomic<int64_t> calls_left{calls_from_environment()};
  if (calls_left.load(std::memory_order_relaxed) <= 0) return;
  if (calls_left.fetch_sub(1) == 1) raise(SIGKILL);
}

}  // namespace trainer
