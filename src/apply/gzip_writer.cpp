// SPDX-License-Identifier: Apache-2.0
#include "apply/gzip_writer.h"

#include <zlib.h>

#include <array>
#include <new>

namespace trainer::apply {

void GzipWriter::End::operator()(z_stream_s* stream) const {
  deflateEnd(stream);
  delete stream;
}

GzipWriter::GzipWriter() : stream_(new z_stream()) {
  constexpr int kGzipHeader = 16;
  constexpr int kMemoryLevel = 8;  // zlib's default
  if (deflateInit2(stream_.get(), Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + kGzipHeader,
                   kMemoryLevel, Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::bad_alloc();  // with these arguments it can fail for no other reason
  }
}

std::string_view GzipWriter::pack(std::string_view text) { return take(text, Z_NO_FLUSH); }

std::string_view GzipWriter::finish() { return take({}, Z_FINISH); }

std::string_view GzipWriter::take(std::string_view text, int flush) {
  std::array<char, 1 << 16> piece{};
  packed_.clear();
  stream_->next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));  // NOLINT: only read
  stream_->avail_in = static_cast<uInt>(text.size());
  do {
    stream_->next_out = reinterpret_cast<Bytef*>(piece.data());
    stream_->avail_out = static_cast<uInt>(piece.size());
    deflate(stream_.get(), flush);
    packed_.append(piece.data(), piece.size() - stream_->avail_out);
  } while (stream_->avail_out == 0);
  return packed_;
}

}  // namespace trainer::apply
