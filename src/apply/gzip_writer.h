// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>

struct z_stream_s;

namespace trainer::apply {

/// Compresses text that arrives in pieces to the content of a gzip file; the same text gives the
/// same bytes. Returned bytes are valid until the next call.
class GzipWriter {
 public:
  GzipWriter();

  std::string_view pack(std::string_view text);
  /// Returns the last bytes of the file. Must be the last call.
  std::string_view finish();

 private:
  struct End {
    void operator()(z_stream_s* stream) const;
  };
  std::string_view take(std::string_view text, int flush);

  std::unique_ptr<z_stream_s, End> stream_;
  std::string packed_;
};

}  // namespace trainer::apply
