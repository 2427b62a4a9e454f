// SPDX-License-Identifier: Apache-2.0
#include "table/source/packed.h"

#include <algorithm>
#include <limits>
#include <new>

#include "table/error.h"

#ifdef TRAINER_HAS_ZSTD
#include <zstd.h>
#endif

namespace trainer::data {
namespace {

constexpr size_t kBufferBytes = size_t{1} << 18;

}  // namespace

void GzipReader::InflateEnd::operator()(z_stream* stream) const {
  inflateEnd(stream);
  delete stream;
}

GzipReader::GzipReader(InputFile& file, std::span<const std::byte> first)
    : file_(file), buffer_(kBufferBytes), stream_(new z_stream{}) {
  std::copy(first.begin(), first.end(), buffer_.begin());
  input_ = std::span(buffer_).first(first.size());
  constexpr int kGzipOnly = 16;
  if (inflateInit2(stream_.get(), MAX_WBITS + kGzipOnly) != Z_OK) throw std::bad_alloc();
}

size_t GzipReader::read(std::span<std::byte> bytes) {
  constexpr size_t kMax = std::numeric_limits<uInt>::max();
  size_t count = 0;
  while (count < bytes.size() && !at_end_) {
    const auto room = bytes.subspan(count, std::min(bytes.size() - count, kMax));
    count += inflate_into(room);
  }
  num_bytes_ += count;
  return count;
}

size_t GzipReader::inflate_into(std::span<std::byte> bytes) {
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

bool GzipReader::has_input() {
  if (input_.empty()) input_ = std::span(buffer_).first(file_.read(buffer_));
  return !input_.empty();
}

bool GzipReader::begins_member() const {
  return input_[0] == kGzipFirst && (input_.size() < 2 || input_[1] == kGzipSecond);
}

#ifdef TRAINER_HAS_ZSTD

void ZstdReader::Free::operator()(ZSTD_DCtx_s* context) const { ZSTD_freeDCtx(context); }

ZstdReader::ZstdReader(InputFile& file, std::span<const std::byte> first)
    : file_(file),
      buffer_(std::max(ZSTD_DStreamInSize(), first.size())),
      context_(ZSTD_createDCtx()) {
  if (context_ == nullptr) throw std::bad_alloc();
  std::copy(first.begin(), first.end(), buffer_.begin());
  input_ = std::span(buffer_).first(first.size());
}

size_t ZstdReader::read(std::span<std::byte> bytes) {
  ZSTD_outBuffer output{bytes.data(), bytes.size(), 0};
  while (output.pos < output.size) {
    if (input_.empty()) input_ = std::span(buffer_).first(file_.read(buffer_));
    const bool has_ended = input_.empty();
    if (has_ended && !is_in_frame_) break;
    const size_t before = output.pos;
    ZSTD_inBuffer input{input_.data(), input_.size(), 0};
    const size_t status = ZSTD_decompressStream(context_.get(), &output, &input);
    if (ZSTD_isError(status) != 0) {
      throw data_error(file_.name(), "the zstd file is damaged; download or copy it again");
    }
    is_in_frame_ = status != 0;
    input_ = input_.subspan(input.pos);
    if (has_ended && output.pos == before) {  // nor was there content left inside
      throw data_error(file_.name(), "the zstd file is truncated; download or copy it again");
    }
  }
  num_bytes_ += output.pos;
  return output.pos;
}

#else

void ZstdReader::Free::operator()(ZSTD_DCtx_s*) const {}

ZstdReader::ZstdReader(InputFile& file, std::span<const std::byte>) : file_(file) {
  throw data_error(file.name(),
                   "this build cannot unpack zstd; install it (Debian, Ubuntu: apt-get install "
                   "libzstd-dev; macOS: brew install zstd) and build again, or unpack the file");
}

size_t ZstdReader::read(std::span<std::byte>) { return 0; }

#endif

}  // namespace trainer::data
