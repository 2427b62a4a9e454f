// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

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

}  // namespace trainer::cpu
