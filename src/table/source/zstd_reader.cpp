// SPDX-License-Identifier: Apache-2.0
#include "table/source/zstd_reader.h"

#ifdef TRAINER_HAS_ZSTD
#include <zstd.h>
#endif

#include <algorithm>
#include <new>

#include "table/error.h"

namespace trainer::data {

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
