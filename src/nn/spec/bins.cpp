// SPDX-License-Identifier: Apache-2.0
#include "trainer/nn/spec/bins.h"

#include <cstddef>
#include <limits>

namespace trainer::network {

Bins make_bins(const PiecewiseEmbedding& embedding, std::span<const float> edges) {
  constexpr float kMost = std::numeric_limits<float>::max();
  const auto num_edges = static_cast<std::size_t>(embedding.num_bins) + 1;
  Bins bins;
  for (std::size_t feature = 0; feature < embedding.features.size(); ++feature) {
    const std::span<const float> own = edges.subspan(feature * num_edges, num_edges);
    for (std::size_t t = 0; t + 1 < num_edges; ++t) {
      const bool has_width = own[t + 1] > own[t];
      const bool is_last = t + 2 == num_edges || !(own[t + 2] > own[t + 1]);
      bins.left.push_back(own[t]);
      bins.inverse_width.push_back(has_width ? 1 / (own[t + 1] - own[t]) : 0);
      bins.low.push_back(has_width && t == 0 ? -kMost : 0);
      bins.high.push_back(!has_width ? 0 : is_last ? kMost : 1);
    }
  }
  return bins;
}

}  // namespace trainer::network
