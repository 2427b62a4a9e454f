// SPDX-License-Identifier: Apache-2.0
#include "trainer/data/data_file.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <limits>
#include <new>
#include <optional>
#include <vector>

#include "data/error.h"
#include "data/input_file.h"

namespace trainer::data {
namespace {

constexpr size_t kBufferBytes = size_t{1} << 18;
constexpr std::byte kGzipFirst{0x1F};
constexpr std::byte kGzipSecond{0x8B};

struct InflateEnd {
  void operator()(z_stream* stream) const {
    inflateEnd(stream);
    delete stream;
  }
};

/// The content of the members of a gzip file.
class Gzip {
 public:
  /// `first` are the bytes of `file` that were read already.
  Gzip(InputFile& file, std::span<const std::byte> first)
      : file_(file), buffer_(kBufferBytes), stream_(new z_stream{}) {
    std::copy(first.begin(), first.end(), buffer_.begin());
    input_ = std::span(buffer_).first(first.size());
    constexpr int kGzipOnly = 16;
    if (inflateInit2(stream_.get(), MAX_WBITS + kGzipOnly) != Z_OK) throw std::bad_alloc();
  }

  size_t read(std::span<std::byte> bytes) {
    constexpr size_t kMax = std::numeric_limits<uInt>::max();
    size_t count = 0;
    while (count < bytes.size() && !at_end_) {
      const auto room = bytes.subspan(count, std::min(bytes.size() - count, kMax));
      count += inflate_into(room);
    }
    num_bytes_ += count;
    return count;
  }

  uint64_t num_bytes() const { return num_bytes_; }

 private:
  size_t inflate_into(std::span<std::byte> bytes) {
    if (!has_input())
      throw data_error(file_.name(), "the gzip file is truncated; download or copy it again");
    stream_->next_in = reinterpret_cast<Bytef*>(input_.data());
    stream_->avail_in = static_cast<uInt>(input_.size());
    stream_->next_out = reinterpret_cast<Bytef*>(bytes.data());
    stream_->avail_out = static_cast<uInt>(bytes.size());
    const int status = inflate(stream_.get(), Z_NO_FLUSH);
    input_ = input_.last(stream_->avail_in);
    const size_t count = bytes.size() - stream_->avail_out;
    if (status == Z_STREAM_END) {
      at_end_ = !has_input() || !begins_member();
      inflateReset(stream_.get());
    } else if (status != Z_OK) {
      throw data_error(file_.name(), "the gzip file is damaged; download or copy it again");
    }
    return count;
  }

  bool has_input() {
    if (input_.empty()) input_ = std::span(buffer_).first(file_.read(buffer_));
    return !input_.empty();
  }

  bool begins_member() const {
    return input_[0] == kGzipFirst && (input_.size() < 2 || input_[1] == kGzipSecond);
  }

  InputFile& file_;
  std::vector<std::byte> buffer_;
  std::span<std::byte> input_;  // the part of buffer_ that is still to be used
  std::unique_ptr<z_stream, InflateEnd> stream_;
  bool at_end_ = false;  // of the last member
  uint64_t num_bytes_ = 0;
};

}  // namespace

struct DataFile::State {
  State(const std::filesystem::path& path, Kind kind)
      : file(path, kind == Kind::kAny ? InputFile::Kind::kAny : InputFile::Kind::kRegular),
        num_first(file.read(first)) {
    if (num_first < first.size() || first[0] != kGzipFirst || first[1] != kGzipSecond) return;
    gzip.emplace(file, first);
    num_first = gzip->read(first);
  }

  InputFile file;
  std::optional<Gzip> gzip;
  std::array<std::byte, 2> first{};  // of the content
  size_t num_first = 0;              // how many of them there are
  size_t num_given = 0;              // how many of them read() has given away
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
  const std::span<std::byte> rest = buffer.subspan(count);
  return count + (state.gzip ? state.gzip->read(rest) : state.file.read(rest));
}

bool DataFile::begins_as_idx() {
  return state_->num_first == 2 && state_->first == std::array<std::byte, 2>{};
}

uint64_t DataFile::bytes_read() const { return state_->file.bytes_read(); }

uint64_t DataFile::size_hint() const { return state_->file.size_hint(); }

uint64_t DataFile::content_size_hint() const {
  const uint64_t num_bytes = size_hint();
  if (!state_->gzip || bytes_read() == 0) return num_bytes;
  const double ratio =
      static_cast<double>(state_->gzip->num_bytes()) / static_cast<double>(bytes_read());
  return static_cast<uint64_t>(ratio * static_cast<double>(num_bytes));
}

Fingerprint DataFile::fingerprint() { return state_->file.fingerprint(); }

}  // namespace trainer::data
