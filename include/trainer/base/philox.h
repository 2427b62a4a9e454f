// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <span>

namespace trainer {

/// Four random 32-bit words as a pure function of a counter and a key: Philox4x32-10 of Salmon,
/// Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3" (SC 2011). The same numbers
/// on every platform, compiler and standard library.
std::array<uint32_t, 4> philox4x32(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key);

/// Names a stream of random numbers by its use; different streams never overlap. Values below 256.
enum class StreamId : uint32_t {
  kOrder = 1,
  kSplit = 2,
  kSynthetic = 3,
  kDropout = 4,
  kInit = 5,
  kBlockOrder = 6,
  kWindowOrder = 7,
  kRowSample = 8,
  kShuffledColumn = 9,
  kTrial = 10
};

/// A stream of numbers that (seed, stream, index) determines completely, so that no generator state
/// has to be saved. Block b of four words is philox4x32 of the counter
/// (b low 32 bits, index low, index high, stream + b high 24 bits << 8) and the key (seed low,
/// seed high); two streams of one seed share no counter within 2^56 blocks.
class PhiloxStream {
 public:
  PhiloxStream(uint64_t seed, StreamId stream, uint64_t index = 0);

  /// Returns the next 32-bit word and advances the stream.
  uint32_t next_u32();
  /// Returns the next two words, the first one as the lower half.
  uint64_t next_u64();
  /// Uniform in [0, bound) without bias (Lemire, "Fast random integer generation in an interval",
  /// 2019). bound >= 1.
  uint64_t below(uint64_t bound);
  /// Uniform in [0, 1) with 53 bits.
  double uniform();
  /// Nearly normal (the sum of twelve uniforms, minus 6): mean 0, variance 1, and only additions,
  /// so that the bits do not depend on a mathematics library.
  double normal();

 private:
  std::array<uint32_t, 4> counter_;
  std::array<uint32_t, 2> key_;
  std::array<uint32_t, 4> words_{};
  unsigned used_ = 4;
};

/// Shuffles in place (Fisher and Yates), every order equally likely.
void shuffle(std::span<int64_t> values, PhiloxStream& random);

/// z with P(Z <= z) = p for a standard normal Z, 0 < p < 1: the approximation 26.2.23 of Abramowitz
/// and Stegun, "Handbook of Mathematical Functions", 1964, made exact to double by Newton's steps.
inline double normal_quantile(double p) {
  if (p == 0.5) return 0;
  const bool is_upper = p > 0.5;
  const double tail = is_upper ? 1 - p : p;
  const double t = std::sqrt(-2 * std::log(tail));
  double z = t - (2.515517 + t * (0.802853 + t * 0.010328)) /
                     (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
  for (int step = 0; step < 3; ++step) {  // Newton's method for the root of P(Z > z) - tail
    const double density = std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
    z += (std::erfc(z / std::numbers::sqrt2) / 2 - tail) / density;
  }
  return is_upper ? z : -z;
}

}  // namespace trainer
