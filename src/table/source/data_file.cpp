// SPDX-License-Identifier: Apache-2.0
#include "trainer/table/source/data_file.h"

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

#include "table/error.h"
#include "table/source/input_file.h"
#include "table/source/packed.h"
#include "table/source/sqlite_reader.h"

namespace trainer::data {

static_assert(kKindBytes >= kSqliteBegin);

struct DataFile::State {
  State(const std::filesystem::path& path, Kind kind)
      : file(path, kind), num_first(file.read(first)) {
    const std::span<std::byte> read = std::span(first).first(num_first);
    require_no_other_kind(file.name(), read);
    if (begins_as(kGzipFirst, kGzipSecond)) gzip.emplace(file, read);
    if (begins_as(kZstdFirst, kZstdSecond)) zstd.emplace(file, read);
    if (begins_as_sqlite(read)) sqlite.emplace(file.name());
    if (!gzip && !zstd && !sqlite) return;
    if (file.is_followed()) {
      throw data_error(file.name(), "is packed, expected lines of text; unpack it on its way here");
    }
    num_first = unpack(first);
    require_no_other_kind(file.name(), std::span(first).first(num_first));
  }

  bool begins_as(std::byte one, std::byte two) const {
    return num_first >= 2 && first[0] == one && first[1] == two;
  }

  // As it lies on the disk, or its content.
  size_t unpack(std::span<std::byte> buffer) {
    if (gzip) return gzip->read(buffer);
    if (sqlite) return sqlite->read(buffer);
    return zstd ? zstd->read(buffer) : file.read(buffer);
  }

  InputFile file;
  std::optional<GzipReader> gzip;
  std::optional<ZstdReader> zstd;
  std::optional<SqliteReader> sqlite;
  std::array<std::byte, kKindBytes> first{};  // of the content
  size_t num_first = 0;                       // how many of them there are
  size_t num_given = 0;                       // how many of them read() has given away
};

DataFile::DataFile(const std::filesystem::path& path, Kind kind)
    : state_(std::make_unique<State>(path, kind)) {}

DataFile::~DataFile() = default;
DataFile::DataFile(DataFile&& other) noexcept = default;

const std::string& DataFile::name() const { return state_->file.name(); }

size_t DataFile::read(std::span<std::byte> buffer) {
  State& state = *state_;
  const size_t count = std::min(buffer.size(), state.num_first - state.num_given);
  std::copy_n(state.first.begin() + static_cast<std::ptrdiff_t>(state.num_given), count,
              buffer.begin());
  state.num_given += count;
  if (count > 0 && is_followed()) return count;
  const std::span<std::byte> rest = buffer.subspan(count);
  return count + state.unpack(rest);
}

bool DataFile::is_followed() const { return state_->file.is_followed(); }

bool DataFile::begins_as_idx() { return state_->begins_as(std::byte{0}, std::byte{0}); }

bool DataFile::has_lines() const { return !state_->sqlite; }

uint64_t DataFile::bytes_read() const {
  if (state_->sqlite) return std::min(state_->sqlite->num_bytes(), size_hint());  // about
  return state_->file.bytes_read();
}

uint64_t DataFile::size_hint() const { return state_->file.size_hint(); }

uint64_t DataFile::content_size_hint() const {
  const uint64_t num_bytes = size_hint();
  const uint64_t num_unpacked = state_->gzip   ? state_->gzip->num_bytes()
                                : state_->zstd ? state_->zstd->num_bytes()
                                               : 0;
  if (num_unpacked == 0) return num_bytes;
  const double ratio = static_cast<double>(num_unpacked) / static_cast<double>(bytes_read());
  return static_cast<uint64_t>(ratio * static_cast<double>(num_bytes));
}

Fingerprint DataFile::fingerprint() { return state_->file.fingerprint(); }

Fingerprint fingerprint(const std::filesystem::path& path) { return InputFile(path).fingerprint(); }

std::string content_text(const Fingerprint& file) {
  return fmt::format("{} bytes with CRC-32 {:08x}", file.num_bytes, file.crc32);
}

}  // namespace trainer::data
