// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "trainer/nn/spec/spec.h"

namespace trainer::cpu {

/// The highest throughput that some threads of this machine reach together.
struct Peak {
  double flops_per_second = 0;  // multiply-adds in fp32, two operations each
  double bytes_per_second = 0;  // read from and written to main memory
};

/// Measures the floating-point operations per second of the product kernel with operands in the
/// first level cache, an upper bound for all products. Returns the sum over the threads of the best
/// try of each, while the others work too. Takes about 50 ms.
double measure_flops(int64_t num_threads);

/// Measures operations and memory bandwidth in about 0.2 s. The bandwidth is that of the triad a =
/// b + s c of McCalpin's STREAM benchmark over 96 MiB, without the read of `a` that the cache may
/// do. The results are lower while other programs use the machine.
Peak measure_peak(int64_t num_threads);

/// Returns the seconds that the forward and backward pass of one batch take on this machine with
/// `num_threads`: the shortest of several tries with random numbers. Measures for about 0.1 s, or
/// as long as a single pass takes. Throws as the constructor of Network does.
double measure_step(const network::NetworkSpec& spec, int64_t batch_size, int64_t num_threads);

}  // namespace trainer::cpu
